import type { SideThread } from '../db/index.ts';

/** The question that a thread works on, and one more, so that it finds the next without waiting for the main thread. */
export const questionsAtOnce = 2;

/**
 * Several threads that answer like one, from one line: whichever has answered takes the
 * first in line. So no question waits behind a slow one while another thread is idle, and
 * answers come back one by one, with room for other pages between them. The second thread
 * starts when two ask at once, and nobody pays for it before.
 * @param threads each refuses more than `questionsAtOnce` by itself
 * @param longestLine questions that may wait; whatever is beyond that is for a thread to refuse
 */
export function joinThreads(threads: readonly [SideThread, ...SideThread[]], longestLine: number): SideThread {
  const all = threads.map((thread) => ({ thread, asked: 0 }));
  const line: ((place: (typeof all)[number]) => void)[] = [];

  return {
    async ask(statements) {
      let place = all.reduce((best, other) => (other.asked < best.asked ? other : best));
      if (place.asked < questionsAtOnce) place.asked += 1;
      else if (line.length >= longestLine) return place.thread.ask(statements);
      else place = await new Promise((resolve) => line.push(resolve));
      try {
        return await place.thread.ask(statements);
      } finally {
        const next = line.shift();
        // A place goes from hand to hand: nobody who comes meanwhile finds it free.
        if (next === undefined) place.asked -= 1;
        else next(place);
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
