import { belongsHere } from '../../nodes/index.ts';
import { dueAgain, unpark } from '../../announcements/index.ts';
import { isNotNull } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { placeOfPush } from './announce-push.ts';
import { pushSchema } from '../schema/push-schema.ts';

/** A push that some listener has not recorded yet. */
export interface UnannouncedPush {
  id: string;
  repositoryId: string;
}

/**
 * Settled pushes of this node to announce, oldest first; never parked ones. Pushes to a trashed repository wait for its
 * restore.
 * @param which `due` omits pushes whose last attempt is delayed; a start tries all
 */
export function unannouncedPushes(deps: RepositoryDeps, which: 'all' | 'due'): Promise<UnannouncedPush[]> {
  const query = deps.db.read
    .createQueryBuilder(pushSchema, 'p')
    .select('p.id', 'id')
    .addSelect('p.repository_id', 'repositoryId')
    .where('p.settled_at IS NOT NULL AND p.announced_at IS NULL AND p.parked_at IS NULL')
    .andWhere(belongsHere(deps.db, 'p.node'))
    .andWhere('EXISTS (SELECT 1 FROM repositories r WHERE r.id = p.repository_id AND r.deleted_at IS NULL)')
    .orderBy('p.created_at')
    .addOrderBy('p.id');
  if (which === 'due') {
    const { sql, parameters } = dueAgain('p', deps.clock.now());
    query.andWhere(sql, parameters);
  }
  return query.getRawMany<UnannouncedPush>();
}

/** Settled pushes to one repository that a listener has not recorded, oldest first; never parked ones. */
export async function pushesLeftFor(
  deps: Pick<RepositoryDeps, 'db'>,
  repositoryId: string,
  listener: string,
): Promise<string[]> {
  const rows = await deps.db.read
    .createQueryBuilder(pushSchema, 'p')
    .select('p.id', 'id')
    // Avoids the repository's index, which covers years of pushes.
    .where("p.repository_id || '' = :repositoryId AND p.settled_at IS NOT NULL", { repositoryId })
    .andWhere('p.announced_at IS NULL AND p.parked_at IS NULL')
    .andWhere('NOT EXISTS (SELECT 1 FROM push_announcements a WHERE a.push_id = p.id AND a.listener = :listener)', {
      listener,
    })
    .orderBy('p.created_at')
    .addOrderBy('p.id')
    .getRawMany<{ id: string }>();
  return rows.map(({ id }) => id);
}

/** Whether a push to this ref was journalled and has not ended: no client has its result. */
export async function isPushRunning(
  { db }: Pick<RepositoryDeps, 'db'>,
  repositoryId: string,
  ref: string,
): Promise<boolean> {
  const rows: unknown[] = await db.read.query(
    `SELECT 1 AS found FROM pushes p CROSS JOIN push_updates u
      WHERE p.announced_at IS NULL AND p.settled_at IS NULL AND p.repository_id || '' = ?
        AND u.push_id = p.id AND u.ref = ? ORDER BY p.created_at, p.id LIMIT 1`,
    [repositoryId, ref],
  );
  return rows.length > 0;
}

interface ParkedPush extends UnannouncedPush {
  attempts: number;
  /** The failed listeners, each with its error. */
  error: string | null;
  /** Epoch milliseconds. */
  parkedAt: number;
}

/** Parked pushes, newest first. */
export async function listParkedPushes(deps: RepositoryDeps, limit: number): Promise<ParkedPush[]> {
  const rows = await deps.db.read.find(pushSchema, {
    where: { parkedAt: isNotNull() },
    order: { parkedAt: 'DESC', id: 'ASC' },
    take: limit,
  });
  return rows.map(({ id, repositoryId, attempts, lastError, parkedAt }) => ({
    id,
    repositoryId,
    attempts,
    error: lastError,
    parkedAt: parkedAt!,
  }));
}

/**
 * Retries a push, even a parked one: each remaining listener gets one attempt, and the push is parked again if one
 * fails. Throws `push_not_found`, `push_running`, `push_announced`.
 */
export async function unparkPush({ db }: RepositoryDeps, pushId: string): Promise<UnannouncedPush> {
  return db.write(async (tx: Tx) => {
    const push = await tx.manager.findOneBy(pushSchema, { id: pushId });
    if (push === null) throw notFound('push_not_found', 'There is no such push.');
    if (push.settledAt === null) throw conflict('push_running', 'This push is still running.');
    if (push.announcedAt !== null) throw conflict('push_announced', 'All listeners have already received this push.');
    // Includes pushes that wait until the server has been up for a while.
    await unpark(tx, placeOfPush(pushId));
    return { id: push.id, repositoryId: push.repositoryId };
  });
}

/** The result of a retry. */
export interface RetriedPush {
  isAnnounced: boolean;
  error: string | null;
}

export async function outcomeOf({ db }: RepositoryDeps, pushId: string): Promise<RetriedPush> {
  const push = await db.read.findOneBy(pushSchema, { id: pushId });
  return { isAnnounced: push?.announcedAt != null, error: push?.lastError ?? null };
}
