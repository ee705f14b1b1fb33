import type { SideThread } from '../db/index.ts';

/**
 * Several threads that answer like one: each question goes to the one with the fewest in
 * front of it. The second starts when two ask at once, and nobody pays for it before.
 */
export function joinThreads(threads: readonly [SideThread, ...SideThread[]]): SideThread {
  const all = threads.map((thread) => ({ thread, asked: 0 }));
  return {
    async ask(statements) {
      const least = all.reduce((best, other) => (other.asked < best.asked ? other : best));
      least.asked += 1;
      try {
        return await least.thread.ask(statements);
      } finally {
        least.asked -= 1;
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
