import { backoffMs } from '../../outbox/index.ts';
import type { DeliveryRow } from '../schema/delivery-schema.ts';

/** Result of an attempt. */
export type Outcome =
  | { kind: 'delivered' }
  /**
   * @property retryAfterMs as requested by the other server, capped at an hour
   */
  | { kind: 'failed'; error: string; retryAfterMs?: number }
  /** A retry within an hour would get the same response. */
  | { kind: 'refused'; error: string }
  /** The other server reports that the inbox is permanently gone: no further requests. */
  | { kind: 'gone'; error: string }
  /** Must not be sent again, whatever attempts are left. */
  | { kind: 'forbidden'; error: string };

type Settled = Pick<DeliveryRow, 'state' | 'attempts' | 'lastError' | 'nextAttemptAt' | 'settledAt'>;

/** Upper limit of a requested wait. */
const maxWishMs = 3_600_000;

/**
 * The state of a delivery after an attempt (SPEC §3).
 * @param row before the attempt; must be PENDING
 * @param now time when the result became known, milliseconds since the epoch
 */
export function nextDeliveryState(
  row: Pick<DeliveryRow, 'attempts' | 'nextAttemptAt'>,
  outcome: Outcome,
  now: number,
  maxAttempts: number,
): Settled {
  const { nextAttemptAt } = row;
  if (outcome.kind === 'forbidden') {
    return { state: 'FAILED', attempts: row.attempts, lastError: outcome.error, nextAttemptAt, settledAt: now };
  }
  const attempts = row.attempts + 1;
  if (outcome.kind === 'delivered')
    return { state: 'DELIVERED', attempts, lastError: null, nextAttemptAt, settledAt: now };
  const isFinal = outcome.kind === 'gone' || outcome.kind === 'refused';
  if (attempts >= maxAttempts || isFinal)
    return { state: 'FAILED', attempts, lastError: outcome.error, nextAttemptAt, settledAt: now };
  const wait = Math.max(backoffMs(attempts), Math.min(outcome.retryAfterMs ?? 0, maxWishMs));
  return { state: 'PENDING', attempts, lastError: outcome.error, nextAttemptAt: now + wait, settledAt: null };
}
