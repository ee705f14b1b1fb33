import type { Viewer } from '../../access/index.ts';
import type { RepositoryAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { mergedAs } from './find-merged-pulls.ts';

/**
 * Returns the number of the pull request that introduced a commit: the one merged as this commit, else the newest one
 * that contains it, preferring merged ones. Null if there is none. Throws `repository_not_found`.
 * @param oid full id
 */
export async function pullOfCommit(
  deps: Pick<PullDeps, 'db' | 'repositories'>,
  viewer: Viewer,
  at: RepositoryAt,
  oid: string,
): Promise<number | null> {
  const { repository } = await deps.repositories.find(viewer, at.owner, at.name);
  const [merged] = await mergedAs(deps, repository.id, [oid]);
  if (merged !== undefined) return merged.number;
  const rows: { number: number; state: string }[] = await deps.db.read.query(
    `SELECT i.number AS number, i.state AS state FROM pull_commits c JOIN issues i ON i.id = c.issue_id
     WHERE c.oid = ? AND i.repository_id = ? AND i.deleted_at IS NULL AND i.held_at IS NULL LIMIT 100`,
    [oid, repository.id],
  );
  const newest = rows.toSorted(
    (one, other) =>
      Number(other.state === 'MERGED') - Number(one.state === 'MERGED') || Number(other.number) - Number(one.number),
  )[0];
  return newest === undefined ? null : Number(newest.number);
}
