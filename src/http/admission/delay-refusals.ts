import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from '../context.ts';

/** Refusals to anonymous clients that are sent at once, the interval of the others, and the longest delay. */
const defaultPace = { burst: 50, intervalMs: 5, maxDelayMs: 2_000 };

/**
 * A client that ignores Retry-After and retries at once would be refused thousands of times a
 * second, which costs the others more than serving it. So refusals to anonymous clients are sent
 * one after the other: a few are not delayed, many wait up to two seconds on idle connections.
 */
export function delayRefusals(
  { burst, intervalMs, maxDelayMs } = defaultPace,
  wait: (ms: number) => Promise<unknown> = sleep,
): Middleware {
  /** When the next one would be sent if they were spread evenly. */
  let nextAt = -Infinity;
  return async (ctx, next) => {
    await next();
    const {
      status,
      state: { identity },
    } = ctx;
    // An activity that is refused comes again by itself, or is a flood; elsewhere 401 begins a sign-in.
    const isPaced = status === 429 || status === 503 || (status === 401 && ctx.path.startsWith('/ap/'));
    if (!isPaced || identity.viewer.kind !== 'anonymous') return;
    const now = performance.now();
    nextAt = Math.max(nextAt + intervalMs, now - burst * intervalMs);
    const delayMs = Math.min(maxDelayMs, nextAt - now);
    // A refusal with the longest delay pushes those behind it no further.
    nextAt = Math.min(nextAt, now + maxDelayMs);
    if (delayMs > 0) await wait(delayMs);
  };
}
