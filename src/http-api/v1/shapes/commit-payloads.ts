import type { z } from 'zod';
import type { Commit } from '../../../git/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import { mapAll } from '../../../kernel/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { Verification } from '../../../signing/index.ts';
import { userPayload, zonedTime } from '../../../gitea-shapes/index.ts';
import type * as schemas from './commits-schemas.ts';
import { isoTime } from './payloads.ts';

type Shown<Schema extends z.ZodType> = z.output<Schema>;
type ShowDeps = Pick<WebDeps, 'accounts' | 'signing'>;

interface Place {
  origin: string;
  found: Pick<Found, 'canonical' | 'repository'>;
}

/** Users by the e-mail addresses in commits. */
const peopleOf = ({ accounts }: Pick<WebDeps, 'accounts'>, commits: readonly Commit[]) =>
  accounts.addresses.peopleByAddress(commits.flatMap(({ author, committer }) => [author.email, committer.email]));

type People = Awaited<ReturnType<typeof peopleOf>>;

/** Verification results of commit signatures, in the order of the commits; null for an unsigned one. */
async function verifyCommits(
  { signing }: Pick<WebDeps, 'signing'>,
  { repository }: Pick<Found, 'repository'>,
  commits: readonly Commit[],
): Promise<(Verification | null)[]> {
  const objects = commits.map(
    ({ signature, committer }) => signature && { signature, address: committer.email, at: committer.at },
  );
  return signing.verify(objects, repository.id);
}

function showVerification(
  { signature, committer }: Commit,
  verdict: Verification | null,
  people: People,
): Shown<typeof schemas.verification> {
  return {
    verified: verdict?.verified ?? false,
    reason: verdict?.reason ?? 'unsigned',
    signature: signature?.text ?? '',
    payload: signature?.signed.toString() ?? '',
    signer: verdict?.verified ? showIdentity(committer, people) : null,
  };
}

const showIdentity = ({ name, email }: Commit['author'], people: People) => ({
  name,
  email,
  username: people.get(email)?.username ?? '',
});

const showUser = ({ name, email, at, offsetMinutes }: Commit['author']) => ({
  name,
  email,
  date: zonedTime(at, offsetMinutes),
});

/** URLs of a commit and its tree. */
function showParts({ oid, tree, parents, committer }: Commit, { origin, found: { canonical } }: Place) {
  const git = `${origin}/api/v1/repos/${canonical.owner}/${canonical.name}/git`;
  const created = isoTime(committer.at);
  const meta = (sha: string) => ({ url: `${git}/commits/${sha}`, sha, created });
  return {
    ...meta(oid),
    html_url: `${origin}${repositoryUrl(canonical)}/commit/${oid}`,
    parents: parents.map(meta),
    tree: { url: `${git}/trees/${tree}`, sha: tree, created },
  };
}

function showOne(commit: Commit, verdict: Verification | null, people: People, place: Place) {
  const { tree, ...parts } = showParts(commit, place);
  const accountOf = (email: string) => {
    const person = people.get(email);
    return person === undefined ? null : userPayload(person, { baseUrl: place.origin });
  };
  const { author, committer, message } = commit;
  return {
    ...parts,
    commit: {
      url: parts.url,
      author: showUser(author),
      committer: showUser(committer),
      message,
      tree,
      verification: showVerification(commit, verdict, people),
    },
    author: accountOf(author.email),
    committer: accountOf(committer.email),
    files: null,
    stats: null,
  };
}

/** Commits in Gitea's form. */
export async function showGiteaCommits(
  deps: ShowDeps,
  commits: readonly Commit[],
  place: Place,
): Promise<Shown<typeof schemas.giteaCommit>[]> {
  const [verdicts, people] = await Promise.all([verifyCommits(deps, place.found, commits), peopleOf(deps, commits)]);
  return commits.map((commit, index) => showOne(commit, verdicts[index] ?? null, people, place));
}

/** Commits in Gitea's form with our own fields. */
export async function showCommits(
  deps: ShowDeps,
  commits: readonly Commit[],
  place: Place,
): Promise<Shown<typeof schemas.commit>[]> {
  const [verdicts, people] = await Promise.all([verifyCommits(deps, place.found, commits), peopleOf(deps, commits)]);
  return commits.map((commit, index) => {
    const verdict = verdicts[index] ?? null;
    const { author, committer, ...shown } = showOne(commit, verdict, people, place);
    const { signature } = commit;
    const own = (account: typeof author, one: Commit['author']) => ({
      ...(account ?? { id: -1, login: null, username: null, full_name: '', avatar_url: '', html_url: '' }),
      ...showUser(one),
    });
    return {
      ...shown,
      author: own(author, commit.author),
      committer: own(committer, commit.committer),
      id: commit.oid,
      tree: commit.tree,
      message: commit.message,
      verification: {
        verified: verdict?.verified ?? false,
        reason: verdict?.reason ?? 'unsigned',
        signer: verdict?.signer?.username ?? null,
        fingerprint: verdict?.fingerprint ?? null,
        signature: signature?.text ?? null,
        payload: signature?.signed.toString() ?? null,
      },
    };
  });
}

/** Commits of a branch, in the shape of webhooks. */
export async function showPayloadCommits(
  deps: ShowDeps,
  commits: readonly Commit[],
  { origin, found }: Place,
): Promise<Shown<typeof schemas.payloadCommit>[]> {
  const [verdicts, people] = await Promise.all([verifyCommits(deps, found, commits), peopleOf(deps, commits)]);
  return commits.map((commit, index) => ({
    id: commit.oid,
    message: commit.message,
    url: `${origin}${repositoryUrl(found.canonical)}/commit/${commit.oid}`,
    author: showIdentity(commit.author, people),
    committer: showIdentity(commit.committer, people),
    verification: showVerification(commit, verdicts[index] ?? null, people),
    timestamp: isoTime(commit.committer.at),
    added: null,
    removed: null,
    modified: null,
  }));
}

/** A commit with its changed files and its signature verification. */
export async function showFileCommit(deps: ShowDeps, commit: Commit, place: Place) {
  const [[verdict], people] = await Promise.all([verifyCommits(deps, place.found, [commit]), peopleOf(deps, [commit])]);
  return {
    commit: {
      ...showParts(commit, place),
      author: showUser(commit.author),
      committer: showUser(commit.committer),
      message: commit.message,
    },
    verification: showVerification(commit, verdict ?? null, people),
  };
}

/** Gitea's status names: a renamed file is a changed one. */
const affected = { added: 'added', deleted: 'removed' } as Readonly<Record<string, 'added' | 'removed'>>;

/** Changes of a commit against its first parent. */
export async function showChanges(
  { git }: Pick<WebDeps, 'git'>,
  { path }: Pick<Found, 'path'>,
  { oid, parents }: Commit,
): Promise<Required<Pick<Shown<typeof schemas.giteaCommit>, 'files' | 'stats'>>> {
  const { files } = await git.queries.listDiff(path, { from: parents[0] ?? null, to: oid });
  const [additions, deletions] = (['added', 'removed'] as const).map((side) =>
    files.reduce((sum, file) => sum + (file[side] ?? 0), 0),
  ) as [number, number];
  return {
    files: await mapAll(files, ({ status, oldPath, newPath }) => ({
      filename: (status === 'deleted' ? oldPath : newPath).toString('utf8'),
      status: affected[status] ?? 'modified',
    })),
    stats: { total: additions + deletions, additions, deletions },
  };
}
