import { busy, createSemaphore } from '../../kernel/index.ts';
import type { Middleware } from '../context.ts';
import type { BackgroundPriority } from './background-priority.ts';

/**
 * How expensive a route is, so that a flood of expensive pages leaves the cheap ones
 * alone: the number is how many requests of the class may run at once. Argon2 is limited
 * to two hashes at once in `accounts`; the queue in front of it is bounded here. Transfers
 * queue in `git`.
 */
const costs = {
  /** From memory. */
  free: Infinity,
  /** A few rows of the database. */
  rows: 256,
  /** Hashes a password. */
  password: 16,
  /** Runs in the search threads, with background priority on the main thread. */
  search: 256,
  /** Reads git objects. */
  objects: 64,
  /** Verifies a signature, perhaps after a request to the signer's server. */
  signature: 128,
  /** Keeps an uploaded file in memory, two megabytes at most. */
  upload: 16,
  /** Keeps the files of a change in memory: 32 megabytes at most, when the setting is as usual. */
  change: 8,
  /** Streams packs. */
  transfer: Infinity,
} as const;

export type CostClass = keyof typeof costs;

/** Refuses `busy` when all places of the class are taken; no request waits for one. */
export function createClassLimits(
  { turn }: Pick<BackgroundPriority, 'turn'>,
  limits: Readonly<Record<CostClass, number>> = costs,
): Record<CostClass, Middleware> {
  return Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [name, limitClass(limit, name === 'search' ? turn : undefined)]),
  ) as Record<CostClass, Middleware>;
}

/** @param turn what each request of the class waits for once it has its place, and before its response is sent */
function limitClass(limit: number, turn?: () => Promise<void>): Middleware {
  if (limit === Infinity) return (_ctx, next) => next();
  const places = createSemaphore({
    limit,
    queue: 0,
    waitMs: 0,
    refusal: busy('busy', 'Too many people ask for this at once. Please try again in a moment.', 2),
  });
  return async (ctx, next) => {
    const release = await places.acquire();
    try {
      if (turn !== undefined) {
        await turn();
        // The client has left while it waited: nothing was done yet.
        if (ctx.res.destroyed) return;
      }
      await next();
      // The caller sends what was made.
      await turn?.();
    } finally {
      release();
    }
  };
}
