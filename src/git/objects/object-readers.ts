import { createNotifier, unavailable } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import { ObjectReader } from './object-reader.ts';
import type { GitRunner } from '../processes/git-runner.ts';

/** A pool of object readers: one per active repository, limited in number, stopped when idle. */
export interface ObjectReaders {
  use<T>(path: string, work: (reader: ObjectReader) => Promise<T>): Promise<T>;
  /** Stops the reader of a repository that is about to move, or all of them. */
  close(path?: string): Promise<void>;
}

interface PooledReader {
  reader: ObjectReader;
  bornAt: number;
  users: number;
  idle: NodeJS.Timeout | undefined;
  isEnding: boolean;
}

/** A reader is replaced after this time, and killed after twice this time. */
const ttlMs = 3_600_000;

export function createObjectReaders(runner: GitRunner, limits: GitLimits): ObjectReaders {
  /** By repository, least recently used first. Not the kernel's cache: a reader in use is not evicted. */
  const readers = new Map<string, PooledReader>();
  /** Number of readers that are still stopping: they hold memory until they have exited. */
  let ending = 0;
  const returns = createNotifier();
  const notifyWaiting = (): void => returns.notify('a reader');

  function end(path: string, pooled: PooledReader): void {
    clearTimeout(pooled.idle);
    if (readers.get(path) !== pooled) return;
    readers.delete(path);
    ending += 1;
    pooled.isEnding = true;
    pooled.reader.close();
  }

  /** Stops the longest idle reader if the pool is full; returns whether a slot is free. */
  function evictIdle(): boolean {
    if (ending >= limits.objectReaders) return false;
    if (readers.size < limits.objectReaders) return true;
    for (const [path, pooled] of readers) {
      if (pooled.users > 0) continue;
      end(path, pooled);
      return true;
    }
    return false;
  }

  function open(path: string): PooledReader {
    const reader = new ObjectReader(runner, path, { responseTimeoutMs: limits.shortMs, ttlMs: 2 * ttlMs });
    const pooled: PooledReader = { reader, bornAt: performance.now(), users: 0, idle: undefined, isEnding: false };
    readers.set(path, pooled);
    void reader.exited.then(() => {
      clearTimeout(pooled.idle);
      if (pooled.isEnding) ending -= 1;
      else readers.delete(path);
      notifyWaiting();
    });
    return pooled;
  }

  async function borrow(path: string): Promise<PooledReader> {
    const deadline = performance.now() + limits.queueWaitMs;
    for (;;) {
      const pooled = readers.get(path) ?? (evictIdle() ? open(path) : null);
      if (pooled !== null) {
        clearTimeout(pooled.idle);
        pooled.users += 1;
        // Map order is order of use, the most recent last.
        readers.delete(path);
        readers.set(path, pooled);
        return pooled;
      }
      const { retryAfterSeconds } = limits;
      const timeoutMs = deadline - performance.now();
      if (timeoutMs <= 0)
        throw unavailable('git_busy', 'The server is busy. Try again in a moment.', { retryAfterSeconds });
      await returns.wait('a reader', { timeoutMs });
    }
  }

  function releaseReader(path: string, pooled: PooledReader): void {
    pooled.users -= 1;
    if (pooled.users > 0) return;
    if (performance.now() - pooled.bornAt > ttlMs) end(path, pooled);
    // A stopped reader gets no timer, which would only keep the process alive.
    else if (readers.get(path) === pooled) pooled.idle = setTimeout(() => end(path, pooled), limits.objectReaderIdleMs);
    notifyWaiting();
  }

  return {
    async use(path, work) {
      const pooled = await borrow(path);
      try {
        return await work(pooled.reader);
      } finally {
        releaseReader(path, pooled);
      }
    },
    async close(path) {
      const closing = [...readers].filter(([of]) => path === undefined || of === path);
      for (const [of, pooled] of closing) end(of, pooled);
      await Promise.all(closing.map(([, { reader }]) => reader.exited));
    },
  };
}
