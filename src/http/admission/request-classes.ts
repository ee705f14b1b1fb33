import { busy, createSemaphore } from '../../kernel/index.ts';
import type { Middleware } from '../context.ts';
import type { BackgroundPriority } from '../background-priority.ts';

/**
 * Cost of a route, so that a flood of expensive pages does not affect cheap ones: the number limits concurrent requests
 * of the class. Argon2 is limited to two concurrent hashes in `accounts`; the queue in front of it is bounded here.
 * Transfers queue in `git`.
 */
const costs = {
  /** Served from memory. */
  free: Infinity,
  /** Reads a few database rows. */
  rows: 256,
  /** Hashes a password. */
  password: 16,
  /** Runs in the search threads, with background priority on the main thread. */
  search: 256,
  /** Reads git objects. */
  objects: 64,
  /** Verifies a signature, possibly after a request to the signer's server. */
  signature: 128,
  /** Keeps an uploaded file in memory, at most two megabytes. */
  upload: 16,
  /** Keeps the files of a change in memory: at most 32 megabytes with the default setting. */
  change: 8,
  /** Streams packs. */
  transfer: Infinity,
} as const;

export type CostClass = keyof typeof costs;

/** Throws `busy` if all slots of the class are taken; no request waits for one. */
export function createClassLimits(
  { turn }: Pick<BackgroundPriority, 'turn'>,
  limits: Readonly<Record<CostClass, number>> = costs,
): Record<CostClass, Middleware> {
  return Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [name, limitClass(limit, name === 'search' ? turn : undefined)]),
  ) as Record<CostClass, Middleware>;
}

/**
 * @param turn awaited by each request of the class after it has its slot, and before its response is sent
 */
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
        // The client has disconnected while it waited: nothing was done yet.
        if (ctx.res.destroyed) return;
      }
      await next();
      // The caller sends the result.
      await turn?.();
    } finally {
      release();
    }
  };
}
