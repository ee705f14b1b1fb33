import { unavailable } from './errors.ts';

export interface SemaphoreOptions {
  /** Holders at a time. */
  limit: number;
  /** Holders at a time by the name of a key, for instance `{ repository: 4, client: 2 }`. */
  limitPerKey?: Readonly<Record<string, number>>;
  /** Waiters at most; a further one is refused at once. Any number when not given. */
  queue?: number;
  /** How long a caller waits, in milliseconds; until it is admitted when not given. */
  waitMs?: number;
  /** The error when the queue is full or the wait is over. */
  refusal?: () => Error;
}

/** Key names and values of a caller; one without a value is not limited by it. */
export type SemaphoreKeys = Readonly<Record<string, string | undefined>>;

export interface SemaphoreStatistics {
  admitted: number;
  refusedFull: number;
  refusedLate: number;
  /** Total seconds that callers waited and held. */
  waitedSeconds: number;
  heldSeconds: number;
}

export interface Semaphore {
  /**
   * Waits for a permit and returns the function that releases it. Throws the refusal when the queue is full or the wait
   * is over, and the signal's reason when it aborts.
   */
  acquire(keys?: SemaphoreKeys, signal?: AbortSignal): Promise<() => void>;
  /** Does the work while it holds a place. Throws as `acquire` and as the work do. */
  run<T>(work: () => Promise<T>, keys?: SemaphoreKeys, signal?: AbortSignal): Promise<T>;
  held(): number;
  heldBy(name: string, value: string): number;
  waiting(): number;
  statistics(): Readonly<SemaphoreStatistics>;
}

/** The refusal of most semaphores. */
export const busy =
  (reason: string, message: string, retryAfterSeconds: number): (() => Error) =>
  () =>
    unavailable(reason, message, { retryAfterSeconds });

interface Waiter {
  keys: SemaphoreKeys;
  admit(): void;
}

/**
 * A counting semaphore with a bounded queue and limits per key. First in, first out, except that a waiter whose key is
 * at its limit is passed over: one busy repository or client never blocks the others.
 */
export function createSemaphore(options: SemaphoreOptions): Semaphore {
  const {
    limit,
    queue = Infinity,
    waitMs,
    refusal = busy('busy', 'Too many wait already. Try again soon.', 5),
  } = options;
  const keyLimits = Object.entries(options.limitPerKey ?? {});
  const counts = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let held = 0;
  const statistics: SemaphoreStatistics = {
    admitted: 0,
    refusedFull: 0,
    refusedLate: 0,
    waitedSeconds: 0,
    heldSeconds: 0,
  };
  const secondsSince = (at: number): number => (performance.now() - at) / 1000;
  const countKey = (name: string, value: string): string => `${name}\0${value}`;
  const limited = (keys: SemaphoreKeys): [string, number][] =>
    keyLimits.flatMap(([name, most]) => {
      const value = keys[name];
      return value === undefined ? [] : [[countKey(name, value), most]];
    });

  const fits = (keys: SemaphoreKeys): boolean =>
    held < limit && limited(keys).every(([key, most]) => (counts.get(key) ?? 0) < most);

  function add(keys: SemaphoreKeys, change: number): void {
    held += change;
    for (const [key] of limited(keys)) {
      const count = (counts.get(key) ?? 0) + change;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    }
  }

  function hold(keys: SemaphoreKeys): () => void {
    add(keys, 1);
    statistics.admitted += 1;
    const startedAt = performance.now();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      statistics.heldSeconds += secondsSince(startedAt);
      add(keys, -1);
      for (const waiter of waiters) {
        if (held >= limit) return;
        if (fits(waiter.keys)) waiter.admit();
      }
    };
  }

  function wait(keys: SemaphoreKeys, signal: AbortSignal | undefined): Promise<() => void> {
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const leave = () => {
        statistics.waitedSeconds += secondsSince(startedAt);
        waiters.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        keys,
        admit() {
          leave();
          resolve(hold(keys));
        },
      };
      const onAbort = () => {
        leave();
        reject(signal?.reason);
      };
      const onLate = () => {
        leave();
        statistics.refusedLate += 1;
        reject(refusal());
      };
      const timer = waitMs === undefined ? undefined : setTimeout(onLate, waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      waiters.add(waiter);
    });
  }

  async function acquire(keys: SemaphoreKeys = {}, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (fits(keys)) return hold(keys);
    if (waiters.size >= queue) {
      statistics.refusedFull += 1;
      throw refusal();
    }
    return wait(keys, signal);
  }

  return {
    acquire,
    async run(work, keys, signal) {
      const release = await acquire(keys, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
    held: () => held,
    heldBy: (name, value) => counts.get(countKey(name, value)) ?? 0,
    waiting: () => waiters.size,
    statistics: () => statistics,
  };
}
