import { currentCharge } from '../kernel/index.ts';
import type { ThreadRow, ThreadStatement, DatabaseThread } from '../db/index.ts';

interface ThreadPool extends DatabaseThread {
  /**
   * @param isSparing waits while any of them is busy: one CPU is enough
   */
  run(statements: ThreadStatement[], isSparing?: boolean): Promise<ThreadRow[][]>;
}

/**
 * A pool of threads with one queue: an idle thread takes the first request, so no request waits behind a slow one while
 * another thread is idle. The second thread starts when there are two concurrent requests.
 *
 * A thread with another request in its queue would continue without a pause, and keep its CPU for the scheduler's time
 * slice of some milliseconds; so each has at most one, and sleeps after its response. Not the kernel's semaphore:
 * callers get a specific thread, and sparing requests wait for all of them.
 * @param threads each refuses a second request by itself
 * @param maxQueued limit of waiting requests; a thread refuses further ones
 */
export function createThreadPool(
  threads: readonly [DatabaseThread, ...DatabaseThread[]],
  maxQueued: number,
): ThreadPool {
  const idle = [...threads];
  const waiting: ((thread: DatabaseThread) => void)[] = [];

  return {
    async run(statements, isSparing = false) {
      let thread = isSparing && idle.length < threads.length ? undefined : idle.shift();
      if (thread === undefined) {
        if (waiting.length >= maxQueued) return threads[0].run(statements);
        thread = await new Promise<DatabaseThread>((resolve) => waiting.push(resolve));
      }
      const charge = currentCharge();
      const startedAt = performance.now();
      try {
        return await thread.run(statements);
      } finally {
        // The thread ran nothing else in this time.
        charge?.(performance.now() - startedAt);
        const next = waiting.shift();
        // It is handed over directly, so that no later request takes it first.
        if (next === undefined) idle.unshift(thread);
        else next(thread);
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
