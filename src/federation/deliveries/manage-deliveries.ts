import { In, LessThan } from 'typeorm';
import { readCounts, rows } from '../../db/index.ts';
import type { CountName } from '../../db/index.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import type { FederationDeps } from '../deps.ts';
import { deliverySchema } from '../schema/delivery-schema.ts';
import type { DeliveryRow, DeliveryState } from '../schema/delivery-schema.ts';
import { outboxSchema } from '../schema/outbox-schema.ts';
import type { OutboxRow } from '../schema/outbox-schema.ts';
import { enqueue } from './publish.ts';

/** A delivery with its activity. */
export interface ListedDelivery extends DeliveryRow {
  /** `Push`, `Follow`, … */
  type: string;
  activityId: string;
  /** The repository that the activity is about; null if none. */
  repositoryId: string | null;
}

export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  host?: string | undefined;
  /** Only deliveries with a smaller number: the next page. */
  before?: number | undefined;
  limit?: number;
}

/** Deliveries, newest first. */
export async function listDeliveries(
  deps: FederationDeps,
  { state, host, before, limit = 1_000 }: DeliveryFilter = {},
): Promise<ListedDelivery[]> {
  const where = {
    ...(state === undefined ? {} : { state }),
    ...(host === undefined ? {} : { host: host.toLowerCase() }),
    ...(before === undefined ? {} : { id: LessThan(before) }),
  };
  const rows = await deps.db.read.find(deliverySchema, { where, order: { id: 'DESC' }, take: limit });
  const outbox = await outboxRows(deps, rows);
  return rows.map((row) => describe(deps, row, outbox.get(row.outboxId)));
}

/** One delivery with the document that it sends. Throws `unknown_delivery`. */
export async function showDelivery(deps: FederationDeps, id: number): Promise<ListedDelivery & { activity: string }> {
  const row = await deps.db.read.findOneBy(deliverySchema, { id });
  if (row === null) throw noSuchDelivery();
  const sent = (await outboxRows(deps, [row])).get(row.outboxId);
  return { ...describe(deps, row, sent), activity: sent?.activity ?? '{}' };
}

/**
 * Retries a FAILED delivery as a new PENDING one; the old row stays unchanged (SPEC §3: never retried again). Throws
 * `unknown_delivery`; `delivery_not_failed` for one that is running or done.
 * @returns the new row's id
 */
export async function retryDelivery(deps: FederationDeps, id: number): Promise<number> {
  const made = await deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(deliverySchema, { id });
    if (row === null) throw noSuchDelivery();
    if (row.state !== 'FAILED')
      throw conflict(
        'delivery_not_failed',
        `Delivery ${id} is ${row.state}. Only a FAILED delivery can be sent again.`,
      );
    return enqueue(tx, row.outboxId, row.targetInbox);
  });
  deps.logger.info('delivery.retried', { delivery: id, as: made });
  return made;
}

/**
 * Makes a waiting delivery due now, without counting an attempt. Throws `unknown_delivery`; `delivery_not_waiting` for
 * one that is finished or being sent.
 */
export async function sendNow(deps: FederationDeps, id: number): Promise<void> {
  await deps.db.write(async ({ manager, now }) => {
    const row = await manager.findOneBy(deliverySchema, { id });
    if (row === null) throw noSuchDelivery();
    if (row.state !== 'PENDING' || row.lockedUntil > now)
      throw conflict('delivery_not_waiting', `Delivery ${id} is not pending, so there is nothing to send.`);
    await manager.update(deliverySchema, { id }, { nextAttemptAt: now });
  });
}

/**
 * Retries all FAILED deliveries, or those to one host, except cancelled ones and those retried before. @returns number
 * of retried deliveries
 */
export async function retryFailedDeliveries(deps: FederationDeps, host: string | null): Promise<number> {
  const made = await deps.db.write(async ({ manager, now }) => {
    const added = await rows(
      manager,
      `INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, attempts, next_attempt_at, locked_until, created_at)
       SELECT d.outbox_id, d.target_inbox, d.host, 'PENDING', 0, ?, 0, ?
         FROM federation_delivery d
        WHERE d.state = 'FAILED' AND d.cancelled_at IS NULL AND (? IS NULL OR d.host = ?)
          AND NOT EXISTS (SELECT 1 FROM federation_delivery later
                           WHERE later.outbox_id = d.outbox_id AND later.target_inbox = d.target_inbox AND later.id > d.id)
       RETURNING id`,
      [now, now, host, host],
    );
    return added.length;
  });
  deps.logger.info('delivery.failed_retried', { made, ...(host === null ? {} : { host }) });
  return made;
}

/** Like `removeSettled`, on request of an administrator; recorded in the audit log. */
export async function purgeDeliveries(deps: FederationDeps, settledBefore: number): Promise<number> {
  const removed = await removeSettled(deps, settledBefore);
  deps.logger.info('delivery.purged', { removed, before: new Date(settledBefore).toISOString() });
  return removed;
}

/** Removes deliveries that became DELIVERED or FAILED before a given time. @returns number of removed deliveries */
export async function removeSettled(deps: FederationDeps, settledBefore: number): Promise<number> {
  return deps.db.write(async ({ manager }) => {
    const gone = await manager.delete(deliverySchema, {
      state: In(['DELIVERED', 'FAILED']),
      settledAt: LessThan(settledBefore),
    });
    return gone.affected ?? 0;
  });
}

/** Number of deliveries that `removeSettled` would remove. */
export function countSettled(deps: FederationDeps, settledBefore: number): Promise<number> {
  return deps.db.read.countBy(deliverySchema, {
    state: In(['DELIVERED', 'FAILED']),
    settledAt: LessThan(settledBefore),
  });
}

/** The state of the queue, for the status command and the administration page. */
export async function countDeliveries({
  db,
  clock,
}: FederationDeps): Promise<{ pending: number; failed: number; oldestPendingMs: number | null }> {
  const [counts, [oldest], [cancelled]]: [Record<CountName, number>, { at: number }[], { n: number }[]] =
    await Promise.all([
      readCounts(db.read),
      // Numbers increase with time: the smallest pending one is the oldest.
      db.read.query("SELECT created_at AS at FROM federation_delivery WHERE state = 'PENDING' ORDER BY id LIMIT 1"),
      db.read.query('SELECT count(*) AS n FROM federation_delivery WHERE cancelled_at IS NOT NULL'),
    ]);
  return {
    pending: counts.pending_deliveries,
    // Cancelled deliveries are not errors.
    failed: counts.failed_deliveries - Number(cancelled?.n ?? 0),
    oldestPendingMs: oldest === undefined ? null : clock.now() - Number(oldest.at),
  };
}

const noSuchDelivery = () => notFound('unknown_delivery', 'There is no such delivery.');

async function outboxRows({ db }: FederationDeps, deliveries: readonly DeliveryRow[]): Promise<Map<string, OutboxRow>> {
  const ids = [...new Set(deliveries.map(({ outboxId }) => outboxId))];
  const rows = new Map<string, OutboxRow>();
  for (let start = 0; start < ids.length; start += 500) {
    for (const row of await db.read.findBy(outboxSchema, { id: In(ids.slice(start, start + 500)) }))
      rows.set(row.id, row);
  }
  return rows;
}

function describe({ localActors }: FederationDeps, row: DeliveryRow, sent: OutboxRow | undefined): ListedDelivery {
  const activityId = sent === undefined ? row.outboxId : `${localActors.idOf(sent.actorPath)}/activities/${sent.id}`;
  return { ...row, type: sent?.type ?? 'gone', activityId, repositoryId: sent?.repositoryId ?? null };
}
