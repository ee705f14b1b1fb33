import { hash } from 'node:crypto';
import type { Commit, Signature } from '../../git/index.ts';
import { personUrl } from '../../http/index.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import type { AvatarView } from '../app/avatar.view.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import { viewName } from '../app/printable-names.ts';
import { loadEmoji } from '../markdown/emoji.ts';
import type { CodeDeps } from './deps.ts';

/** The author of a commit or a tag: a local account, or the name recorded by git. */
export interface AuthorView {
  name: string;
  /** The profile URL; null without an account. */
  url: string | null;
  /** The name in the commit, where it differs from the account's. */
  title: string | null;
  avatar: AvatarView;
}

export interface CommitAuthors {
  of(signature: Pick<Signature, 'name' | 'email'>): AuthorView;
  /** Changes when an address is verified or removed, and when an account is renamed or gets another picture. */
  dependency: Dependency;
}

type Found = [email: string, id: string, handle: string, displayName: string, avatarAt: number | null];

/** Longer names in commits are cut to this number of characters. */
const maxName = 100;

/** Looks up the accounts of all addresses on a page with three statements, whatever their number. */
export async function readCommitAuthors(
  { accounts, owners }: Pick<CodeDeps, 'accounts' | 'owners'>,
  signatures: Iterable<Pick<Signature, 'email'>>,
): Promise<CommitAuthors> {
  // Commit lines need it, and are made with the authors.
  await loadEmoji();
  const emails = [...new Set([...signatures].map(({ email }) => email))];
  const dependency = await dependOn(async (): Promise<Found[]> => {
    const people = await accounts.addresses.peopleByAddress(emails);
    if (people.size === 0) return [];
    const found = await owners.ownersById([...people.values()].map(({ id }) => id));
    return [...people].flatMap(([email, { id, displayName }]): Found[] => {
      const owner = found.get(id);
      return owner === undefined ? [] : [[email, id, owner.handle, displayName, owner.avatarAt]];
    });
  });
  const people = new Map(dependency.value.map((person) => [person[0], person]));
  return {
    of({ name: written, email }) {
      const name = viewName(written).slice(0, maxName);
      const person = people.get(email);
      if (person === undefined) return { name: name || 'unknown', url: null, title: null, avatar: avatarOf(email) };
      const [, id, handle, displayName, avatarAt] = person;
      const title = [handle, displayName, ''].includes(name) ? null : name;
      return { name: handle, url: personUrl(handle), title, avatar: viewAvatar(id, avatarAt) };
    },
    dependency,
  };
}

/** The same for commits: their authors and committers. */
export const authorsOfCommits = (
  deps: Pick<CodeDeps, 'accounts' | 'owners'>,
  commits: readonly Pick<Commit, 'author' | 'committer'>[],
): Promise<CommitAuthors> =>
  readCommitAuthors(
    deps,
    commits.flatMap(({ author, committer }) => [author, committer]),
  );

/** The picture of an author without an account is derived from the address: the same person always has the same one. */
const avatarOf = (email: string): AvatarView => viewAvatar(hash('sha256', email.toLowerCase()));
