import { greatest, inList } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { endFollower } from './end-follower.ts';
import { recordError, recordSilence, recordSuccess } from './peer-health.ts';
import type { Silence } from './peer-health.ts';
import type { ClaimedDelivery } from './claim.ts';
import { nextDeliveryState } from './delivery-state.ts';
import type { Outcome } from './delivery-state.ts';

/** An attempt with a known result. */
export interface Attempt {
  delivery: ClaimedDelivery;
  /** `null` if it was aborted because this server stops: it is not counted. */
  outcome: Outcome | null;
  /** False if there was no response. */
  wasReached: boolean;
  /** Whether the other server responded; unknown if nothing was sent. */
  hasResponded: boolean;
}

/**
 * Records the results of attempts: state, count and backoff in one statement each, so that a crash before it leaves the
 * attempt uncounted and the activity due again (at least once, never lost).
 * @param queued claimed deliveries: those of hosts that turn out to be down are released to wait
 * @param isRecorded whether a recent success of the host is recorded
 * @returns hosts that are now marked as gone
 */
export async function recordAttempts(
  tx: Tx,
  attempts: readonly Attempt[],
  queued: ReadonlyMap<string, readonly ClaimedDelivery[]>,
  maxAttempts: number,
  isRecorded: (host: string) => boolean,
): Promise<{ host: string; since: number }[]> {
  const delivered: number[] = [];
  const reachable = new Set<string>();
  const silent = new Set<string>();
  const givenUp: { host: string; since: number }[] = [];
  for (const { delivery, outcome, wasReached, hasResponded } of attempts) {
    const { key: host } = delivery;
    if (outcome === null) {
      await tx.manager.query('UPDATE federation_delivery SET locked_until = 0 WHERE id = ? AND locked_until = ?', [
        delivery.id,
        delivery.leaseUntil,
      ]);
    } else if (outcome.kind === 'delivered') {
      delivered.push(delivery.id);
      reachable.add(host);
    } else if (outcome.kind === 'forbidden') {
      await settleFailure(tx, delivery, outcome, maxAttempts);
    } else if (hasResponded || outcome.kind !== 'failed') {
      await settleFailure(tx, delivery, outcome, maxAttempts);
      await recordError(tx, host, outcome.error);
      if (outcome.kind === 'gone') await endFollower(tx, { inbox: delivery.targetInbox });
    } else {
      if (!wasReached) silent.add(host);
      const silence = await recordSilence(tx, host, outcome.error, !wasReached);
      await settleSilence(tx, { delivery, outcome, wasReached, silence }, queued.get(host) ?? [], maxAttempts);
      if (silence.isNewlyGone) givenUp.push({ host, since: silence.since });
    }
  }
  await settleDelivered(tx, delivered);
  await recordSuccess(tx, new Set([...reachable].filter((host) => silent.has(host) || !isRecorded(host))));
  return givenUp;
}

interface SilentAttempt extends Pick<Attempt, 'delivery' | 'wasReached'> {
  outcome: Extract<Outcome, { kind: 'failed' }>;
  silence: Silence;
}

/** Deliveries to a host that does not respond keep waiting, and fail when deliveries to the host end. */
async function settleSilence(
  tx: Tx,
  { delivery, outcome, wasReached, silence: { isGone, retryAt, since } }: SilentAttempt,
  queued: readonly ClaimedDelivery[],
  maxAttempts: number,
): Promise<void> {
  const error = isGone ? goneWords(delivery.key, since, outcome.error) : outcome.error;
  // A delivery to a host that is marked as gone is attempted once.
  await settleFailure(tx, delivery, { ...outcome, error }, isGone ? 0 : maxAttempts);
  if (isGone) await failWaiting(tx, delivery.key, error, queued);
  else if (!wasReached) await postpone(tx, delivery.key, retryAt, queued);
}

const goneWords = (host: string, since: number, error: string): string =>
  `${host} has given no answer since ${new Date(since).toISOString().slice(0, 10)} and was given up: ${error}`;

/** Unlike a failure, a success is recorded even when another process holds the row. */
async function settleDelivered({ manager, now }: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await manager.query(
    `UPDATE federation_delivery SET state = 'DELIVERED', attempts = attempts + 1, last_error = NULL, locked_until = 0, settled_at = ?
      WHERE state = 'PENDING' AND ${inList('id', { type: 'bigint' })}`,
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
    `UPDATE federation_delivery SET state = ?, attempts = ?, last_error = ?, next_attempt_at = ?, settled_at = ?, cancelled_at = ?, locked_until = 0
      WHERE id = ? AND state = 'PENDING' AND locked_until = ?`,
    [
      next.state,
      next.attempts,
      next.lastError,
      next.nextAttemptAt,
      next.settledAt,
      outcome.kind === 'forbidden' ? now : null,
      delivery.id,
      delivery.leaseUntil,
    ],
  );
}

/**
 * The other rows of a host that is down wait for it, without counting an attempt. Rows claimed by another process stay
 * unchanged.
 */
async function postpone(
  { manager, now }: Tx,
  host: string,
  retryAt: number,
  queued: readonly ClaimedDelivery[],
): Promise<void> {
  const ours = JSON.stringify(queued.map(({ id }) => id));
  await manager.query(
    `UPDATE federation_delivery SET next_attempt_at = ${greatest('next_attempt_at', '?')}, locked_until = 0
      WHERE state = 'PENDING' AND host = ? AND next_attempt_at < ? AND (locked_until <= ? OR ${inList('id', { type: 'bigint' })})`,
    [retryAt, host, retryAt, now, ours],
  );
}

/** Fails all waiting rows of a host to which deliveries have ended. Rows claimed by another process stay unchanged. */
async function failWaiting(
  { manager, now }: Tx,
  host: string,
  error: string,
  queued: readonly ClaimedDelivery[],
): Promise<void> {
  const ours = queued.map(({ id }) => id);
  await manager.query(
    `UPDATE federation_delivery SET state = 'FAILED', last_error = ?, settled_at = ?, locked_until = 0
      WHERE state = 'PENDING' AND host = ? AND (locked_until <= ? ${ours.length === 0 ? '' : `OR id IN (${ours.map(() => '?').join(', ')})`})`,
    [error, now, host, now, ...ours],
  );
}
