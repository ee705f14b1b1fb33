import type { Person } from '../../accounts/index.ts';
import type { ChangedFile, Commit } from '../../git/index.ts';
import { giteaTime, userPayload } from '../../gitea-shapes/index.ts';
import type { ServerPlace, UserPayload } from '../../gitea-shapes/index.ts';
import type { WebhookDeps } from '../deps.ts';
import type { JsonObject } from '../json.ts';

/** Limit of characters of a commit message in a payload. */
export const maxMessageLength = 16_384;
const maxFiles = 300;

/** Users behind authors and committers, by the address in the commit. */
export type PeopleByAddress = ReadonlyMap<string, Person>;

/** The pusher: a user, or a deploy key, whose title is shown as a full name without an account. */
export type Pusher = Person | { deployKey: string } | null;

export const pusherPayload = (pusher: Pusher, settings: ServerPlace): UserPayload =>
  pusher !== null && 'deployKey' in pusher
    ? { ...userPayload(null, settings), full_name: `deploy key ${pusher.deployKey}` }
    : userPayload(pusher, settings);

/** A commit with the names of its changed files. */
export interface CommitWithFiles {
  commit: Commit;
  files: readonly Pick<ChangedFile, 'status' | 'oldPath' | 'newPath'>[];
}

export function commitPayload({ commit, files }: CommitWithFiles, page: string, people: PeopleByAddress): JsonObject {
  const named = (statuses: readonly string[], side: 'oldPath' | 'newPath') =>
    files.filter(({ status }) => statuses.includes(status)).map((file) => file[side].toString('utf8'));
  const signature = ({ name, email }: Commit['author']) => ({
    name,
    email,
    username: people.get(email)?.username ?? '',
  });
  return {
    id: commit.oid,
    message: commit.message.slice(0, maxMessageLength),
    url: `${page}/commit/${commit.oid}`,
    author: signature(commit.author),
    committer: signature(commit.committer),
    verification: null,
    timestamp: giteaTime(commit.committer.at),
    added: named(['added', 'copied', 'renamed'], 'newPath'),
    removed: named(['deleted', 'renamed'], 'oldPath'),
    modified: named(['modified', 'type-changed'], 'newPath'),
  };
}

/** The users behind authors and committers, in one query. */
export const peopleOfCommits = ({ accounts }: WebhookDeps, commits: readonly Commit[]) =>
  accounts.addresses.peopleByAddress(commits.flatMap(({ author, committer }) => [author.email, committer.email]));

/** A commit with its changed files; none if they cannot be listed. */
export async function withFiles({ git }: WebhookDeps, path: string, commit: Commit): Promise<CommitWithFiles> {
  const { files } = await git.queries
    .listDiff(path, { from: commit.parents[0] ?? null, to: commit.oid })
    .catch(() => ({ files: [] }));
  return { commit, files: files.slice(0, maxFiles) };
}
