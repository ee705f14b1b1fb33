import type { EntityManager } from 'typeorm';
import type { Issue } from '../../issues/index.ts';
import { pullPushSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';

/** Name of the listener that records rounds of pushes. */
export const listenerName = 'pulls';

/**
 * Whether an accepted push to this pull request is not recorded as a round yet.
 * @param withParked includes pushes that are recorded only after a user retries them
 */
export function hasPendingPush(
  source: EntityManager,
  { repositoryId, number }: Pick<Issue, 'repositoryId' | 'number'>,
  { withParked = false }: { withParked?: boolean } = {},
): Promise<boolean> {
  const query = source
    .createQueryBuilder(pullPushSchema, 'f')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .where('f.repository_id = :repositoryId AND f.number = :number', { repositoryId, number })
    .andWhere('p.announced_at IS NULL')
    .andWhere('NOT EXISTS (SELECT 1 FROM push_announcements a WHERE a.push_id = p.id AND a.listener = :listener)', {
      listener: listenerName,
    });
  if (!withParked) query.andWhere('p.parked_at IS NULL');
  return query.getExists();
}

/** Whether a push has moved the head branch and is not recorded as a round yet; ignores deletions. */
export async function hasPendingHeadPush(
  source: EntityManager,
  { headRepositoryId, headBranch, headOid }: Pick<PullRow, 'headRepositoryId' | 'headBranch' | 'headOid'>,
): Promise<boolean> {
  if (headRepositoryId === null || headBranch === null) return false;
  const rows: unknown[] = await source.query(
    `SELECT 1 AS found FROM pushes p CROSS JOIN push_updates u
      WHERE p.announced_at IS NULL AND p.settled_at IS NOT NULL AND p.parked_at IS NULL
        AND p.repository_id || '' = ? AND u.push_id = p.id AND u.ref = ? AND u.result = 'ok' AND u.new_id <> ? AND u.new_id NOT LIKE '0000%'
        AND NOT EXISTS (SELECT 1 FROM push_announcements a WHERE a.push_id = p.id AND a.listener = ?)
      ORDER BY p.created_at, p.id LIMIT 1`,
    [headRepositoryId, `refs/heads/${headBranch}`, headOid, listenerName],
  );
  return rows.length > 0;
}

/**
 * Whether a journalled merge may have moved the base branch and is not recorded yet. Until then, the round that it
 * merges stays the last one.
 */
export async function isBeingMerged(
  source: EntityManager,
  { mergePushId }: Pick<PullRow, 'mergePushId'>,
): Promise<boolean> {
  if (mergePushId === null) return false;
  const rows: unknown[] = await source.query(
    `SELECT 1 AS found FROM push_updates WHERE push_id = ? AND (result IS NULL OR result = 'ok') LIMIT 1`,
    [mergePushId],
  );
  return rows.length > 0;
}
