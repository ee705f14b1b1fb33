import { backoffMs } from './backoff.ts';
import type { MessageRow } from './schema/outbox-schema.ts';

/** Result of an attempt. */
export interface Outcome {
  /** Error message; null if it succeeded. */
  error: string | null;
  /** Whether another attempt may succeed; otherwise the failure is final. */
  mayRetry: boolean;
  /**
   * For an error: time of the next attempt in milliseconds since the epoch. The attempt does not count, because a limit
   * of this server has postponed it.
   */
  postponedTo?: number;
}

export type NextState = Pick<MessageRow, 'state' | 'attempts' | 'nextAt' | 'leaseUntil' | 'lastError'>;

/**
 * The row of a message after an attempt.
 * @param row before the attempt; must be PENDING
 * @param endedAt milliseconds since the epoch
 */
export function nextMessageState(
  row: Pick<MessageRow, 'attempts' | 'nextAt'>,
  { error, mayRetry, postponedTo }: Outcome,
  endedAt: number,
  maxAttempts: number,
): NextState {
  if (error !== null && postponedTo !== undefined)
    return { state: 'PENDING', attempts: row.attempts, nextAt: postponedTo, leaseUntil: 0, lastError: error };
  const attempts = row.attempts + 1;
  const ended = { attempts, nextAt: row.nextAt, leaseUntil: 0, lastError: error };
  if (error === null) return { ...ended, state: 'DELIVERED' };
  if (!mayRetry || attempts >= maxAttempts) return { ...ended, state: 'FAILED' };
  return { ...ended, state: 'PENDING', nextAt: endedAt + backoffMs(attempts) };
}
