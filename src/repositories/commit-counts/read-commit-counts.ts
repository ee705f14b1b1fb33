import { visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { inList, selectRaw } from '../../db/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { eachRow } from '../list-repositories.ts';

const dayMs = 86_400_000;
/**
 * Limit of rows to add up, one per day and repository. Other people can also write commits under this person's name.
 */
const maxCounted = 20_000;

/**
 * Counts a user's commits per day on default branches of repositories that the viewer can see, by the user's verified
 * and no-reply addresses.
 * @param since epoch milliseconds
 * @returns keyed by the number of the day since the epoch, in UTC; days without a commit are missing
 */
export async function readCommitCounts(
  { db, accounts }: Pick<RepositoryDeps, 'db' | 'accounts'>,
  viewer: Viewer,
  personId: string,
  since: number,
): Promise<Map<number, number>> {
  const keys = JSON.stringify(await accounts.addresses.authorKeysOf(personId));
  const visible = visibleRepositories(viewer, 'r');
  const rows = await selectRaw<{ day: number; commits: number }>(
    db.read,
    `SELECT day, sum(commits) AS commits FROM (
       SELECT c.day, c.commits FROM commit_counts c
       WHERE ${inList('c.author_key', { parameter: ':keys' })} AND c.day >= :day
         AND c.repository_id IN (SELECT r.id FROM repositories r WHERE r.id IN (
           SELECT w.repository_id FROM commit_counts w WHERE ${inList('w.author_key', { parameter: ':keys' })} AND w.day >= :day)
           AND ${eachRow(visible.sql)})
       LIMIT ${maxCounted}) counted
     GROUP BY day`,
    { ...visible.parameters, keys, day: Math.floor(since / dayMs) },
  );
  return new Map(rows.map(({ day, commits }) => [Number(day), Number(commits)]));
}
