import { unavailable } from '../../kernel/index.ts';
import type { Middleware } from '../context.ts';
import type { BackgroundPriority } from './background-priority.ts';

/**
 * How dear a route is, so that a flood on dear pages leaves the cheap ones
 * alone: the number is how many requests of the class may be at work at once.
 * Argon2 is limited to two hashes at once in its own room; the queue in front
 * of it is bounded here. Transfers queue in the git room.
 */
export const costs = {
  /** From memory. */
  free: Infinity,
  /** A few rows of the database. */
  rows: 256,
  /** Hashes a password. */
  password: 16,
  /** Asks the threads that search, and gives way to whatever else is asked of the main thread. */
  search: 256,
  /** Reads git objects. */
  objects: 64,
  /** Verifies a signature, perhaps after asking the signer's server. */
  signature: 128,
  /** Keeps an uploaded file in memory, two megabytes at most. */
  upload: 16,
  /** Streams packs. */
  transfer: Infinity,
} as const;

export type CostClass = keyof typeof costs;

export type Budgets = Record<CostClass, Middleware>;

/** @param turn what each of the class waits for once it has its place, and before its answer is sent */
function budget(max: number, turn?: () => Promise<void>): Middleware {
  if (max === Infinity) return (_ctx, next) => next();
  let atWork = 0;
  return async (ctx, next) => {
    if (atWork >= max)
      throw unavailable('busy', 'Too many people ask for this at once. Please try again in a moment.', {
        retryAfterSeconds: 2,
      });
    atWork += 1;
    try {
      if (turn !== undefined) {
        await turn();
        // Who has left meanwhile is not missed: nothing was done yet.
        if (ctx.res.destroyed) return;
      }
      await next();
      // What they have put together is sent by whoever called this.
      await turn?.();
    } finally {
      atWork -= 1;
    }
  };
}

export function createBudgets(
  { turn }: Pick<BackgroundPriority, 'turn'>,
  limits: Readonly<Record<CostClass, number>> = costs,
): Budgets {
  return Object.fromEntries(
    Object.entries(limits).map(([name, max]) => [name, budget(max, name === 'search' ? turn : undefined)]),
  ) as Budgets;
}
