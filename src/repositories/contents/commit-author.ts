import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Signature } from '../../git/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';

/** Author and committer that a caller names for a commit; omitted fields default to the user's own. */
export interface NamedAuthor {
  name?: string | undefined;
  email?: string | undefined;
  /** Epoch milliseconds; now by default. */
  at?: number | undefined;
}

export interface CommitPeople {
  author: Signature;
  committer: Signature;
  /** Signs the commit; undefined if it names an author whom this server cannot vouch for. */
  sign: RepositoryDeps['committer']['sign'];
}

const maxLength = 255;

/**
 * Author and committer of a commit that the server creates for a user: the user's name with a verified address that
 * they show, else their no-reply address. As with a push, another author may be named; such a commit is not signed,
 * because the signature asserts that the named person created it. Programs name their bots as committer: without a
 * named author, such a committer becomes the author, because the server commits for the caller alone. Throws
 * `invalid_author`.
 */
export async function commitPeople(
  { accounts, clock, committer: server }: Pick<RepositoryDeps, 'accounts' | 'clock' | 'committer'>,
  viewer: Viewer,
  named: { author?: NamedAuthor | undefined; committer?: NamedAuthor | undefined } = {},
): Promise<CommitPeople> {
  let { author = {}, committer = {} } = named;
  const own = await server.identityOf(viewer);
  const personId = personIdOf(viewer);
  const now = clock.now();
  const given = [author.email, committer.email].filter((email) => email !== undefined && email !== own.email);
  const known = given.length === 0 ? new Map() : await accounts.addresses.peopleByAddress(given as string[]);
  const isOwn = ({ email }: NamedAuthor): boolean =>
    email === undefined || email === own.email || (personId !== null && known.get(email)?.id === personId);
  checked(committer.name, 'committer');
  checked(committer.email, 'committer');
  if (!isOwn(committer)) {
    if (author.name === undefined && author.email === undefined)
      author = { name: committer.name, email: committer.email, at: author.at ?? committer.at };
    committer = {};
  }
  const signature = (named: NamedAuthor, field: string): Signature => ({
    name: checked(named.name, field) ?? own.name,
    email: checked(named.email, field) ?? own.email,
    at: named.at ?? now,
    offsetMinutes: 0,
  });
  return {
    author: signature(author, 'author'),
    committer: signature(committer, 'committer'),
    sign: isOwn(author) ? server.sign : undefined,
  };
}

function checked(text: string | undefined, field: string): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (text.length > maxLength || /[<>\x00-\x1f\x7f]/.test(text) || !text.isWellFormed())
    throw invalid('invalid_author', 'Names and addresses cannot contain "<", ">" or control characters.', { field });
  return text.trim();
}
