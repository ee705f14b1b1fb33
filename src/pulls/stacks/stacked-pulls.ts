import { issueLinkSchema } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { neededBy } from './needed-pulls.ts';

type StackDeps = Pick<PullDeps, 'db' | 'git'>;

/**
 * The commit on which a pull request is based: the last one in its head among the rounds of the pull requests of the
 * same repository on which it depends. Null if its head contains none of them.
 */
export async function findStackedOn(
  { db, git }: StackDeps,
  path: string,
  { issueId, repositoryId }: Pick<PullRow, 'issueId' | 'repositoryId'>,
  headOid: string,
): Promise<string | null> {
  const rows: { headOid: string; createdAt: number }[] = await db.read
    .createQueryBuilder(issueLinkSchema, 'l')
    .innerJoin('pulls', 'p', 'p.issue_id = l.to_id')
    .innerJoin('pull_rounds', 'r', 'r.issue_id = l.to_id')
    .select(['r.head_oid AS "headOid"', 'r.created_at AS "createdAt"'])
    .where("l.from_id = :issueId AND l.kind = 'needs'", { issueId })
    .andWhere('p.repository_id = :repositoryId', { repositoryId })
    .limit(limits.rounds)
    .getRawMany();
  const newest = rows.sort((a, b) => Number(b.createdAt) - Number(a.createdAt)).slice(0, limits.stackedOn);
  let last: string | null = null;
  for (const { headOid: oid } of newest) {
    if (oid === headOid || !(await git.refs.isForward(path, oid, headOid))) continue;
    if (last === null || (await git.refs.isForward(path, last, oid))) last = oid;
  }
  return last;
}

/**
 * Start of the commits of a head based on `stackedOnOid`, for a tip of the base branch: that commit, unless the branch
 * contains it, or the head no longer contains it or has merged the branch since; then null for the merge base. Throws
 * `git_busy`.
 */
export async function stackBase(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  { headOid, stackedOnOid }: Pick<PullRow, 'headOid' | 'stackedOnOid'>,
  tip: string,
): Promise<string | null> {
  if (stackedOnOid === null || !(await git.refs.isForward(path, stackedOnOid, headOid))) return null;
  const parted = await git.queries.mergeBase(path, tip, headOid);
  if (parted === null || parted === stackedOnOid) return null;
  return (await git.refs.isForward(path, parted, stackedOnOid)) ? stackedOnOid : null;
}

/**
 * Start of the commits that the merge of a pull request brings. Excludes commits of merged dependencies, which the
 * branch contains squashed or rebased. Includes commits of unmerged dependencies, so that a trial merge covers the
 * whole stack. Undefined for the merge base of head and tip. Throws `git_busy`.
 */
export async function mergeBaseOf(
  deps: StackDeps,
  path: string,
  pull: Pick<PullRow, 'issueId' | 'repositoryId' | 'headOid' | 'stackedOnOid'>,
  tip: string,
): Promise<string | undefined> {
  let lowest: Pick<PullRow, 'issueId' | 'stackedOnOid'> = pull;
  const seen = new Set([pull.issueId]);
  while (lowest.stackedOnOid !== null && seen.size <= limits.stack) {
    const open = (await neededBy(deps.db.read, lowest.issueId)).find(
      ({ issueId, repositoryId, state }) =>
        state !== 'MERGED' && repositoryId === pull.repositoryId && !seen.has(issueId),
    );
    if (open === undefined) break;
    seen.add(open.issueId);
    lowest = open;
  }
  const { headOid } = pull;
  return (await stackBase(deps, path, { headOid, stackedOnOid: lowest.stackedOnOid }, tip)) ?? undefined;
}
