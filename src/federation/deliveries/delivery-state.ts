import { backoffMs } from '../../outbox/index.ts';
import type { DeliveryRow } from '../schema/delivery-schema.ts';

/** How an attempt ended. */
export type Outcome =
  | { kind: 'delivered' }
  /** @property retryAfterMs the other server's wish, at most heeded up to an hour */
  | { kind: 'failed'; error: string; retryAfterMs?: number }
  /** The other server will say the same of this activity in an hour. */
  | { kind: 'refused'; error: string }
  /** The other server says that the inbox is gone for good: it is not asked again. */
  | { kind: 'gone'; error: string }
  /** It must not be sent any more, whatever attempts are left. */
  | { kind: 'forbidden'; error: string };

type Settled = Pick<DeliveryRow, 'state' | 'attempts' | 'lastError' | 'nextAttemptAt' | 'settledAt'>;

/** A wish to wait is heeded up to this. */
const maxWishMs = 3_600_000;

/**
 * The state of a delivery after an attempt (SPEC §3).
 * @param row before the attempt; must be PENDING
 * @param now when the result became known, milliseconds since the epoch
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
