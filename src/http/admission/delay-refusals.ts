import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from '../context.ts';

/** Number of refusals to anonymous clients sent at once, the interval of further ones, and the longest delay. */
const defaultPace = { burst: 50, intervalMs: 5, maxDelayMs: 2_000 };

/**
 * A client that ignores Retry-After and retries at once would be refused thousands of times a second, which costs other
 * clients more than serving it. So refusals to anonymous clients are sent one by one: a few are not delayed, many wait
 * up to two seconds on idle connections.
 */
export function delayRefusals(
  { burst, intervalMs, maxDelayMs } = defaultPace,
  wait: (ms: number) => Promise<unknown> = sleep,
): Middleware {
  /** Time at which the next one would be sent if they were evenly spread. */
  let nextAt = -Infinity;
  return async (ctx, next) => {
    await next();
    const {
      status,
      state: { identity },
    } = ctx;
    // A refused activity is retried automatically, or is part of a flood; on other routes 401 starts a sign-in.
    const isPaced = status === 429 || status === 503 || (status === 401 && ctx.path.startsWith('/ap/'));
    if (!isPaced || identity.viewer.kind !== 'anonymous') return;
    const now = performance.now();
    nextAt = Math.max(nextAt + intervalMs, now - burst * intervalMs);
    const delayMs = Math.min(maxDelayMs, nextAt - now);
    // A refusal with the longest delay does not delay later ones further.
    nextAt = Math.min(nextAt, now + maxDelayMs);
    if (delayMs > 0) await wait(delayMs);
  };
}
