import type { Tx } from '../../db/index.ts';
import { noteError, noteSuccess, noteUnreachable } from '../peers/peer-health.ts';
import type { ClaimedDelivery } from './claim.ts';
import { nextDeliveryState } from './delivery-state.ts';
import type { Outcome } from './delivery-state.ts';

/** An attempt whose result is known. */
export interface Attempt {
  delivery: ClaimedDelivery;
  /** `null` when it was given up because this server stops: it counts as never made. */
  outcome: Outcome | null;
  /** False when no answer came at all. */
  wasReached: boolean;
}

/**
 * Writes down how attempts ended: state, count and backoff in one statement each,
 * so that a crash before this leaves the attempt uncounted and the activity due
 * again (at least once, never lost).
 * @param queued claimed deliveries of hosts that turn out to be down are given back to wait
 * @param isNoted whether it was written lately that a host answers as it should
 */
export async function settle(
  tx: Tx,
  attempts: readonly Attempt[],
  queued: ReadonlyMap<string, readonly ClaimedDelivery[]>,
  maxAttempts: number,
  isNoted: (host: string) => boolean,
): Promise<void> {
  const delivered: number[] = [];
  const answering = new Set<string>();
  const silent = new Set<string>();
  for (const { delivery, outcome, wasReached } of attempts) {
    if (outcome === null) {
      await tx.manager.query('UPDATE federation_delivery SET locked_until = 0 WHERE id = ? AND locked_until = ?', [
        delivery.id,
        delivery.lockedUntil,
      ]);
    } else if (outcome.kind === 'delivered') {
      delivered.push(delivery.id);
      answering.add(delivery.host);
    } else {
      await settleFailure(tx, delivery, outcome, maxAttempts);
      if (outcome.kind === 'failed' && wasReached) await noteError(tx, delivery.host, outcome.error);
      if (outcome.kind === 'failed' && !wasReached) {
        silent.add(delivery.host);
        const retryAt = await noteUnreachable(tx, delivery.host, outcome.error);
        await postpone(tx, delivery.host, retryAt, queued.get(delivery.host) ?? []);
      }
    }
  }
  await settleDelivered(tx, delivered);
  await noteSuccess(tx, new Set([...answering].filter((host) => silent.has(host) || !isNoted(host))));
}

/** Unlike a failure, a delivery stands whoever has the row by now. */
async function settleDelivered({ manager, now }: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await manager.query(
    `UPDATE federation_delivery SET state = 'DELIVERED', attempts = attempts + 1, last_error = NULL, locked_until = 0, settled_at = ?
      WHERE state = 'PENDING' AND id IN (SELECT value FROM json_each(?))`,
    [now, JSON.stringify(ids)],
  );
}

async function settleFailure(
  { manager, now }: Tx,
  delivery: ClaimedDelivery,
  outcome: Outcome,
  maxAttempts: number,
): Promise<void> {
  const next = nextDeliveryState(delivery, outcome, now, maxAttempts);
  await manager.query(
    `UPDATE federation_delivery SET state = ?, attempts = ?, last_error = ?, next_attempt_at = ?, settled_at = ?, locked_until = 0
      WHERE id = ? AND state = 'PENDING' AND locked_until = ?`,
    [next.state, next.attempts, next.lastError, next.nextAttemptAt, next.settledAt, delivery.id, delivery.lockedUntil],
  );
}

/**
 * The other rows of a host that is down wait for it (DESIGN §9): no attempt is
 * counted. Rows that somebody else has claimed are theirs.
 */
async function postpone(
  { manager, now }: Tx,
  host: string,
  retryAt: number,
  queued: readonly ClaimedDelivery[],
): Promise<void> {
  const ours = JSON.stringify(queued.map(({ id }) => id));
  await manager.query(
    `UPDATE federation_delivery SET next_attempt_at = max(next_attempt_at, ?), locked_until = 0
      WHERE state = 'PENDING' AND host = ? AND next_attempt_at < ? AND (locked_until <= ? OR id IN (SELECT value FROM json_each(?)))`,
    [retryAt, host, retryAt, now, ours],
  );
}
