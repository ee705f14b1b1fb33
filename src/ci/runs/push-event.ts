import type { Commit, Git } from '../../git/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { Json } from '../workflows/json-value.ts';
import { noRef } from '../../kernel/index.ts';

/** A ref that a push moved. */
export interface MovedRef {
  ref: string;
  oldId: string;
  newId: string;
}

const maxCommits = 20;
const skipTrailer = /^skip-checks: ?true$/i;
const skipWords = /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]/i;

export const isNoRef = (oid: string): boolean => noRef.test(oid);

/** Whether a commit message skips CI, by a word in brackets or by a trailer `skip-checks: true` at its end. */
export function asksForNoRun(message: string): boolean {
  if (skipWords.test(message)) return true;
  const lines = message.trimEnd().split('\n');
  const trailers = lines.slice(lines.lastIndexOf('') + 1);
  return lines.includes('') && trailers.some((line) => skipTrailer.test(line));
}

/**
 * Commits added by a push to a ref, newest first, at most twenty. Follows a linear history with single reads; git walks
 * any other.
 */
export async function commitsOf(git: Git, path: string, { oldId, newId }: MovedRef, head: Commit): Promise<Commit[]> {
  const commits = [head];
  if (isNoRef(oldId)) return commits;
  while (commits.length < maxCommits) {
    const { parents } = commits.at(-1)!;
    if (parents.length !== 1) break;
    if (parents[0] === oldId) return commits;
    commits.push(await git.objects.commit(path, parents[0]!));
  }
  return (await git.objects.newCommits(path, newId, [oldId], { limit: maxCommits })).commits;
}

/** Event payload that workflows read as `github.event`. */
export function pushPayload(
  { ref, oldId, newId }: MovedRef,
  commits: readonly Commit[],
  { repository, owner }: Pick<Located, 'repository' | 'owner'>,
  pusher: string,
  baseUrl: string | null,
  { isForced, baseRef }: { isForced: boolean; baseRef: string | null },
): { [key: string]: Json } {
  const page = `${baseUrl ?? ''}/repos/${owner.handle}/${repository.name}`;
  const person = { login: pusher, username: pusher, name: pusher };
  const view = (commit: Commit): Json => ({
    id: commit.oid,
    tree_id: commit.tree,
    // Without the final line feed, as on other forges, so that `== 'Release'` works.
    message: commit.message.replace(/\n+$/, ''),
    url: `${page}/commit/${commit.oid}`,
    timestamp: new Date(commit.committer.at).toISOString(),
    author: { name: commit.author.name, email: commit.author.email },
    committer: { name: commit.committer.name, email: commit.committer.email },
  });
  return {
    ref,
    before: oldId,
    after: newId,
    created: isNoRef(oldId),
    deleted: isNoRef(newId),
    forced: isForced,
    base_ref: baseRef,
    compare: `${page}/compare/${oldId}...${newId}`,
    // Oldest first, as on other forges.
    commits: commits.map(view).reverse(),
    head_commit: commits[0] === undefined ? null : view(commits[0]),
    total_commits: commits.length,
    repository: repositoryPayload({ repository, owner }, baseUrl),
    pusher: person,
    sender: person,
  };
}

/** `github.event.repository` */
export function repositoryPayload(
  { repository, owner }: Pick<Located, 'repository' | 'owner'>,
  baseUrl: string | null,
): { [key: string]: Json } {
  const fullName = `${owner.handle}/${repository.name}`;
  return {
    id: repository.id,
    name: repository.name,
    full_name: fullName,
    owner: { login: owner.handle, username: owner.handle },
    private: repository.visibility === 'PRIVATE',
    description: repository.description,
    default_branch: repository.defaultBranch,
    html_url: `${baseUrl ?? ''}/repos/${fullName}`,
    clone_url: `${baseUrl ?? ''}/git/${fullName}.git`,
  };
}
