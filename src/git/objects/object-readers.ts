import { unavailable } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import { ObjectReader } from './object-reader.ts';
import type { GitRunner } from '../processes/git-runner.ts';

/** A pool of object readers: one per active repository, limited in number, stopped when idle. */
export interface ObjectReaders {
  use<T>(path: string, work: (reader: ObjectReader) => Promise<T>): Promise<T>;
  /** Stops the reader of a repository that is about to move, or all of them. */
  close(path?: string): Promise<void>;
}

interface Lent {
  reader: ObjectReader;
  bornAt: number;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/** A reader is replaced after this time, and killed after twice as long. */
const lifeMs = 3_600_000;

export function createObjectReaders(door: GitRunner, limits: GitLimits): ObjectReaders {
  /** Keyed by repository, least recently used first. */
  const readers = new Map<string, Lent>();
  const waiting = new Set<() => void>();

  function end(path: string, lent: Lent): void {
    clearTimeout(lent.idle);
    if (readers.get(path) === lent) readers.delete(path);
    lent.reader.close();
  }

  /** Stops the reader that has been idle longest when the pool is full; returns whether there is room. */
  function makeRoom(): boolean {
    if (readers.size < limits.objectReaders) return true;
    for (const [path, lent] of readers) {
      if (lent.users > 0) continue;
      end(path, lent);
      return true;
    }
    return false;
  }

  function open(path: string): Lent {
    const reader = new ObjectReader(door, path, { answerMs: limits.shortMs, lifeMs: 2 * lifeMs });
    const lent: Lent = { reader, bornAt: performance.now(), users: 0, idle: undefined };
    readers.set(path, lent);
    void reader.exited.then(() => {
      clearTimeout(lent.idle);
      if (readers.get(path) === lent) readers.delete(path);
      wakeWaiting();
    });
    return lent;
  }

  async function borrow(path: string): Promise<Lent> {
    const deadline = performance.now() + limits.queueWaitMs;
    for (;;) {
      const lent = readers.get(path) ?? (makeRoom() ? open(path) : null);
      if (lent !== null) {
        clearTimeout(lent.idle);
        lent.users += 1;
        // Map order is order of use: the last one was used last.
        readers.delete(path);
        readers.set(path, lent);
        return lent;
      }
      await nextReturn(waiting, deadline - performance.now(), limits.retryAfterSeconds);
    }
  }

  function giveBack(path: string, lent: Lent): void {
    lent.users -= 1;
    if (lent.users > 0) return;
    if (performance.now() - lent.bornAt > lifeMs) end(path, lent);
    // A stopped reader gets no timer: it would only keep the process alive.
    else if (readers.get(path) === lent) lent.idle = setTimeout(() => end(path, lent), limits.objectReaderIdleMs);
    wakeWaiting();
  }

  function wakeWaiting(): void {
    for (const wake of waiting) wake();
  }

  return {
    async use(path, work) {
      const lent = await borrow(path);
      try {
        return await work(lent.reader);
      } finally {
        giveBack(path, lent);
      }
    },
    async close(path) {
      const closing = [...readers].filter(([of]) => path === undefined || of === path);
      for (const [of, lent] of closing) end(of, lent);
      await Promise.all(closing.map(([, { reader }]) => reader.exited));
    },
  };
}

/** Waits until a reader is returned to the pool. */
function nextReturn(waiting: Set<() => void>, waitMs: number, retryAfterSeconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      clearTimeout(timer);
      waiting.delete(wake);
      resolve();
    };
    const timer = setTimeout(
      () => {
        waiting.delete(wake);
        reject(unavailable('git_busy', 'The server is busy. Try again in a moment.', { retryAfterSeconds }));
      },
      Math.max(0, waitMs),
    );
    waiting.add(wake);
  });
}
