import { visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { RepositoryRoom } from '../room.ts';
import { pushSchema } from './push-schema.ts';

const dayMs = 86_400_000;
/** Somebody who pushes more in a year is a machine; its oldest days are left out. */
const maxCounted = 20_000;

/**
 * How often a person has pushed on each day, to repositories that the viewer may see.
 * @param since epoch milliseconds
 * @returns by the number of the day since the epoch, in UTC; days without a push are missing
 */
export async function countPushes(
  { db }: RepositoryRoom,
  viewer: Viewer,
  personId: string,
  since: number,
): Promise<Map<number, number>> {
  const visible = visibleRepositories(viewer, 'r');
  const rows = await db.read
    .createQueryBuilder(pushSchema, 'p')
    .innerJoin('repositories', 'r', 'r.id = p.repository_id')
    .select('p.created_at', 'at')
    .where('p.user_id = :personId AND p.created_at >= :since AND p.settled_at IS NOT NULL', { personId, since })
    .andWhere(visible.sql, visible.parameters)
    .orderBy('p.created_at', 'DESC')
    .limit(maxCounted)
    .getRawMany<{ at: number }>();
  const days = new Map<number, number>();
  for (const { at } of rows) {
    const day = Math.floor(at / dayMs);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  return days;
}
