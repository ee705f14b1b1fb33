import { createNotifier, unavailable } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import { ObjectReader } from './object-reader.ts';
import type { GitRunner } from '../processes/git-runner.ts';

/** Lends object readers: one per active repository, so many at most, ended when idle. */
export interface ObjectReaders {
  use<T>(path: string, work: (reader: ObjectReader) => Promise<T>): Promise<T>;
  /** Ends the reader of a repository that is about to move, or all of them. */
  close(path?: string): Promise<void>;
}

interface Lent {
  reader: ObjectReader;
  bornAt: number;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/** A reader is not lent again after this long, and ended for sure after twice as long. */
const lifeMs = 3_600_000;

export function createObjectReaders(door: GitRunner, limits: GitLimits): ObjectReaders {
  /** By repository, least recently used first. Not the kernel's cache: a reader in use is never ended, and one is waited for. */
  const readers = new Map<string, Lent>();
  const returns = createNotifier();
  const wakeWaiting = (): void => returns.notify('a reader');

  function end(path: string, lent: Lent): void {
    clearTimeout(lent.idle);
    if (readers.get(path) === lent) readers.delete(path);
    lent.reader.close();
  }

  /** Ends the reader that has been idle longest, if the house is full; answers whether there is room. */
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
        // The last in the map is the one used last.
        readers.delete(path);
        readers.set(path, lent);
        return lent;
      }
      const { retryAfterSeconds } = limits;
      const timeoutMs = deadline - performance.now();
      if (timeoutMs <= 0)
        throw unavailable('git_busy', 'The server is busy. Try again in a moment.', { retryAfterSeconds });
      await returns.wait('a reader', { timeoutMs });
    }
  }

  function giveBack(path: string, lent: Lent): void {
    lent.users -= 1;
    if (lent.users > 0) return;
    if (performance.now() - lent.bornAt > lifeMs) end(path, lent);
    // One that was ended meanwhile needs no clock: it would only keep the program from ending.
    else if (readers.get(path) === lent) lent.idle = setTimeout(() => end(path, lent), limits.objectReaderIdleMs);
    wakeWaiting();
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
