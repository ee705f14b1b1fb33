import { issueLinkSchema } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { neededBy } from './needed-pulls.ts';

type StackDeps = Pick<PullDeps, 'db' | 'git'>;

/**
 * The commit on which a pull request is built: of the rounds of the pull requests of the same repository that it needs,
 * the one that its head has last. Null when the head has none of them.
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
 * Where the commits of a head begin that is built on `stackedOnOid`, for a tip of the base branch: there, unless the
 * branch has it, or the head has it no more or has taken in the branch since; null then, for where the two have parted.
 * Refuses `git_busy`.
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
 * Where the commits begin that a merge of a pull request brings. Those of pull requests that it needs and that were
 * merged are in the branch in other words, as one commit or rebased: they are left out. Those that are not merged yet
 * come along, so that a trial merge is that of the whole stack. Undefined for where the head and the tip have parted.
 * Refuses `git_busy`.
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
