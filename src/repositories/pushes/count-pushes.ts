import { visibleRepositories } from '../../access/index.ts';
import { selectRaw } from '../../db/index.ts';
import type { Viewer } from '../../access/index.ts';
import { eachRow } from '../list-repositories.ts';
import type { RepositoryDeps } from '../deps.ts';

const dayMs = 86_400_000;
/** Limit of counted pushes: thirteen a day all year exceeds what any person does; older days are omitted. */
const maxCounted = 5_000;

/** Repositories to which a user has ever pushed, by a loose index scan. */
const pushedTo = `
  WITH RECURSIVE pushed (id) AS (
    SELECT min(repository_id) FROM pushes WHERE user_id = :personId
    UNION ALL
    SELECT (SELECT min(repository_id) FROM pushes WHERE user_id = :personId AND repository_id > pushed.id)
    FROM pushed WHERE pushed.id IS NOT NULL
  ) SELECT id FROM pushed WHERE id IS NOT NULL`;

/**
 * A user's pushes per day to repositories that the viewer can see. Evaluates the policy once per repository, and reads
 * only an index of pushes.
 * @param since epoch milliseconds
 * @returns keyed by the number of the day since the epoch, in UTC; days without a push are missing
 */
export async function countPushes(
  { db }: RepositoryDeps,
  viewer: Viewer,
  personId: string,
  since: number,
): Promise<Map<number, number>> {
  const visible = visibleRepositories(viewer, 'r');
  const rows = await selectRaw<{ day: number; pushes: number }>(
    db.read,
    `SELECT day, count(*) AS pushes FROM (
       SELECT p.created_at / ${dayMs} AS day FROM pushes p
       WHERE p.user_id = :personId AND p.created_at >= :since AND p.settled_at IS NOT NULL
         AND p.repository_id IN (SELECT r.id FROM repositories r WHERE r.id IN (${pushedTo}) AND ${eachRow(visible.sql)})
       ORDER BY p.created_at DESC LIMIT ${maxCounted}) counted
     GROUP BY day`,
    { ...visible.parameters, personId, since },
  );
  return new Map(rows.map(({ day, pushes }) => [Number(day), Number(pushes)]));
}
