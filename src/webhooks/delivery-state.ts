import type { WebhookDeliveryRow } from './webhook-schema.ts';

/** How an attempt ended. */
export interface Outcome {
  /** Of the answer; null when there was none. */
  status: number | null;
  /** The beginning of the answer, as text. */
  response: string | null;
  /** Why it did not arrive; null when it did. */
  error: string | null;
  /** Whether another attempt may do better. */
  mayRetry: boolean;
  triedAt: number;
  tookMs: number;
}

const minuteMs = 60_000;
const maxBackoffMs = 3_600_000;

/** 1, 2, 4, … minutes, at most an hour. */
export const backoffMs = (attempts: number): number =>
  Math.min(maxBackoffMs, minuteMs * 2 ** Math.min(Math.max(attempts - 1, 0), 6));

/** What a status says: taken, come again, or no. Redirects are not followed, so they are a no. */
export function classifyStatus(status: number): Pick<Outcome, 'error' | 'mayRetry'> {
  if (status >= 200 && status < 300) return { error: null, mayRetry: false };
  if (status >= 300 && status < 400)
    return { error: 'It answered with a redirect, which is not followed.', mayRetry: false };
  const mayRetry = status >= 500 || status === 408 || status === 429;
  return { error: `It answered with status ${status}.`, mayRetry };
}

/** The row of a delivery after an attempt. */
export function nextState(
  { attempts }: Pick<WebhookDeliveryRow, 'attempts'>,
  { status, response, error, mayRetry, triedAt, tookMs }: Outcome,
  maxAttempts: number,
): Partial<WebhookDeliveryRow> {
  const tried = attempts + 1;
  const isOver = error === null || !mayRetry || tried >= maxAttempts;
  return {
    state: error === null ? 'DELIVERED' : isOver ? 'FAILED' : 'PENDING',
    attempts: tried,
    lockedUntil: 0,
    ...(isOver ? {} : { nextAttemptAt: triedAt + tookMs + backoffMs(tried) }),
    status,
    response,
    error,
    triedAt,
    tookMs,
  };
}
