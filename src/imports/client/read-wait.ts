import type { OutboundResponse } from '../../outbound/index.ts';

/** Maximum wait for a server: a longer one is an error of that server, or the request is repeated earlier. */
const longestMs = 2 * 3_600_000;
/** Wait for a rate limit without a time. */
const usualMs = 60_000;

/**
 * End of the other server's rate limit; null if the response is not one. `Retry-After` takes precedence, in seconds or
 * as a date, then `X-RateLimit-Reset` and `RateLimit-Reset`. GitHub sends 403 for both of its limits, with one of these
 * or a message about it; 403 without any of them means missing permissions.
 * @param now epoch milliseconds, like the result
 */
export function readWait({ status, headers, body }: OutboundResponse, now: number): number | null {
  if (status !== 403 && status !== 429 && status !== 503) return null;
  const remaining = headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'];
  const after = readRetryAfter(headers['retry-after'], now);
  const isSecondary = status === 403 && /secondary rate limit|abuse detection|rate limit exceeded/i.test(start(body));
  const isLimit = status === 429 || after !== null || (status === 403 && (remaining === '0' || isSecondary));
  if (!isLimit) return null;
  const reset = readReset(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'], now);
  const until = after ?? (remaining === '0' || status === 429 ? reset : null) ?? now + usualMs;
  return Math.min(Math.max(until, now + 1_000), now + longestMs);
}

const start = (body: Buffer): string => body.subarray(0, 2_000).toString('utf8');

function readRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value.trim())) return now + Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : at;
}

/** Seconds since the epoch, or seconds from now: only one of them is a large number. */
function readReset(value: string | string[] | undefined, now: number): number | null {
  const text = String(value ?? '').trim();
  if (!/^\d{1,12}(?:\.\d+)?$/.test(text)) return null;
  const seconds = Number(text);
  return seconds > 1_000_000_000 ? seconds * 1_000 : now + seconds * 1_000;
}
