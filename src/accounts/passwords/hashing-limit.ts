import { unavailable } from '../../kernel/index.ts';

/** A semaphore with a bounded queue. */
export interface HashingLimit {
  /** Refuses with `unavailable`: `sign_in_busy` when the queue is full. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * A password hash takes 19 MiB and a core for tens of milliseconds. Without a limit, many sign-ins at once would take
 * all memory and every core from git.
 */
export function createHashingLimit(limits: { atOnce: number; waiting: number }): HashingLimit {
  let free = limits.atOnce;
  const queue: (() => void)[] = [];

  return {
    async run(work) {
      if (free > 0) free -= 1;
      else if (queue.length < limits.waiting) await new Promise<void>((resolve) => queue.push(resolve));
      else {
        throw unavailable('sign_in_busy', 'Too many people are signing in at this moment. Try again soon.', {
          retryAfterSeconds: 5,
        });
      }
      try {
        return await work();
      } finally {
        // The slot passes to the next waiter without becoming free in between.
        const next = queue.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
