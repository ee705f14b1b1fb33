import { busy, createSemaphore } from '../../kernel/index.ts';
import type { Semaphore } from '../../kernel/index.ts';

/**
 * A password hash takes 19 MiB and a core for tens of milliseconds. Without a limit, a flood of sign-ins would starve
 * git of memory and CPU. Throws `unavailable`: `sign_in_busy` if too many callers are waiting.
 */
export function createHashingLimit(limits: { atOnce: number; waiting: number }): Semaphore {
  return createSemaphore({
    limit: limits.atOnce,
    queue: limits.waiting,
    refusal: busy('sign_in_busy', 'Too many people are signing in at this moment. Try again soon.', 5),
  });
}
