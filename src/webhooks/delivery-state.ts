import type { WebhookDeliveryRow } from './webhook-schema.ts';

/** The result of an attempt. */
export interface Outcome {
  /** HTTP status; null without a response. */
  status: number | null;
  /** The beginning of the response, as text. */
  response: string | null;
  /** The error; null on success. */
  error: string | null;
  /** Whether a retry may succeed. */
  mayRetry: boolean;
  triedAt: number;
  tookMs: number;
}

const minuteMs = 60_000;
const maxBackoffMs = 3_600_000;

/** Backoff of 1, 2, 4, … minutes, at most an hour. */
export const backoffMs = (attempts: number): number =>
  Math.min(maxBackoffMs, minuteMs * 2 ** Math.min(Math.max(attempts - 1, 0), 6));

/**
 * Classifies a status: success, retry, or permanent failure. Redirects are not followed, so they are permanent
 * failures.
 */
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
