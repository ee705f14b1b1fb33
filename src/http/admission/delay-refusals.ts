import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from '../context.ts';

/** Refusals to strangers that may leave at once, how far apart the rest leave, and how long one is held at most. */
const defaultPace = { atOnce: 50, apartMs: 5, longestMs: 2_000 };

/**
 * Whoever is told to come back later and does so at once would be told thousands of times
 * a second, which costs those who are served more than the serving. So refusals to
 * strangers leave one after the other: to the few nothing changes, a crowd waits a second
 * on a connection that costs nothing.
 */
export function delayRefusals(
  { atOnce, apartMs, longestMs } = defaultPace,
  wait: (ms: number) => Promise<unknown> = sleep,
): Middleware {
  /** When the next one would leave if they all left evenly. */
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
    nextAt = Math.max(nextAt + apartMs, now - atOnce * apartMs);
    const waitMs = Math.min(longestMs, nextAt - now);
    // What waits at the limit takes no place of those behind it.
    nextAt = Math.min(nextAt, now + longestMs);
    if (waitMs > 0) await wait(waitMs);
  };
}
