import type { Viewer } from '../../access/index.ts';
import type { RepositoryAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';

/**
 * The number of the pull request that brought a commit: the one that was merged as it, else the newest that has it
 * among its commits, a merged one first. Null for none. Refuses `repository_not_found`.
 * @param oid full id
 */
export async function pullOfCommit(
  { db, repositories }: Pick<PullDeps, 'db' | 'repositories'>,
  viewer: Viewer,
  at: RepositoryAt,
  oid: string,
): Promise<number | null> {
  const { repository } = await repositories.find(viewer, at.owner, at.name);
  const isShown = 'i.deleted_at IS NULL AND i.held_at IS NULL';
  const [merged]: { number: number }[] = await db.read.query(
    `SELECT i.number AS number FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE p.merged_oid = ? AND p.repository_id = ? AND i.state = 'MERGED' AND ${isShown} LIMIT 1`,
    [oid, repository.id],
  );
  if (merged !== undefined) return Number(merged.number);
  const rows: { number: number; state: string }[] = await db.read.query(
    `SELECT i.number AS number, i.state AS state FROM pull_commits c JOIN issues i ON i.id = c.issue_id
     WHERE c.oid = ? AND i.repository_id = ? AND ${isShown} LIMIT 100`,
    [oid, repository.id],
  );
  const newest = rows.toSorted(
    (one, other) =>
      Number(other.state === 'MERGED') - Number(one.state === 'MERGED') || Number(other.number) - Number(one.number),
  )[0];
  return newest === undefined ? null : Number(newest.number);
}
