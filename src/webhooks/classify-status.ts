import type { Outcome } from '../outbox/index.ts';

/** Classifies a status: success, retry or permanent failure. Redirects are not followed, so they fail permanently. */
export function classifyStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return { error: null, mayRetry: false };
  if (status >= 300 && status < 400)
    return { error: 'It answered with a redirect, which is not followed.', mayRetry: false };
  const mayRetry = status >= 500 || status === 408 || status === 429;
  return { error: `It answered with status ${status}.`, mayRetry };
}
