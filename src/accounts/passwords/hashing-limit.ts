import { busy, createSemaphore } from '../../kernel/index.ts';
import type { Semaphore } from '../../kernel/index.ts';

/**
 * A password hash takes 19 MiB and a core for tens of milliseconds. Without a
 * bound, a flood of sign-ins would take all memory and every core from git.
 * Refuses with `unavailable`: `sign_in_busy` when too many wait already.
 */
export function createHashingLimit(limits: { atOnce: number; waiting: number }): Semaphore {
  return createSemaphore({
    limit: limits.atOnce,
    queue: limits.waiting,
    refusal: busy('sign_in_busy', 'Too many people are signing in at this moment. Try again soon.', 5),
  });
}
