import { unavailable } from './errors.ts';

interface SemaphoreOptions {
  /** Number of concurrent holders. */
  limit: number;
  /** Concurrent holders by the name of a key, such as `{ repository: 4, client: 2 }`. */
  limitPerKey?: Readonly<Record<string, number>>;
  /** Limit of waiters; further ones are refused at once. Unlimited by default. */
  queue?: number;
  /** Limit of waiters by the name of a limited key: those of one value cannot fill the queue. */
  queuePerKey?: Readonly<Record<string, number>>;
  /** Time in milliseconds that a caller waits; unlimited by default. */
  waitMs?: number;
  /** The error if the queue is full or the wait has timed out. */
  refusal?: () => Error;
}

/** Key names and values of a caller; a key without a value does not limit it. */
type SemaphoreKeys = Readonly<Record<string, string | undefined>>;

interface SemaphoreStatistics {
  admitted: number;
  refusedFull: number;
  refusedLate: number;
  /** Total seconds that callers waited and held. */
  waitedSeconds: number;
  heldSeconds: number;
}

export interface Semaphore {
  /**
   * Waits for a permit and returns the function that releases it. Throws the refusal if the queue is full or the wait
   * times out, and the signal's reason if it aborts.
   */
  acquire(keys?: SemaphoreKeys, signal?: AbortSignal): Promise<() => void>;
  /** Runs the work while holding a permit. Throws the errors of `acquire` and of the work. */
  run<T>(work: () => Promise<T>, keys?: SemaphoreKeys, signal?: AbortSignal): Promise<T>;
  held(): number;
  heldBy(name: string, value: string): number;
  waiting(): number;
  statistics(): Readonly<SemaphoreStatistics>;
}

/** The error of most semaphores. */
export const busy =
  (reason: string, message: string, retryAfterSeconds: number): (() => Error) =>
  () =>
    unavailable(reason, message, { retryAfterSeconds });

/** A key of a caller with the allowed numbers of concurrent holders and of waiters. */
type KeyLimit = readonly [key: string, most: number, mostWaiting: number];

interface Waiter {
  keys: readonly KeyLimit[];
  admit(): void;
}

/**
 * A counting semaphore with a bounded queue and limits per key. First in, first out, except that a waiter whose key is
 * at its limit is skipped: one busy repository or client never blocks the others.
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
  const waitingCounts = new Map<string, number>();
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
  function limited(keys: SemaphoreKeys): KeyLimit[] {
    const found: KeyLimit[] = [];
    for (const [name, most] of keyLimits) {
      const value = keys[name];
      if (value !== undefined) found.push([countKey(name, value), most, options.queuePerKey?.[name] ?? Infinity]);
    }
    return found;
  }

  function fits(keys: readonly KeyLimit[]): boolean {
    if (held >= limit) return false;
    for (const [key, most] of keys) if ((counts.get(key) ?? 0) >= most) return false;
    return true;
  }

  const isQueueFull = (keys: readonly KeyLimit[]): boolean =>
    waiters.size >= queue || keys.some(([key, , most]) => (waitingCounts.get(key) ?? 0) >= most);

  function count(inside: Map<string, number>, keys: readonly KeyLimit[], change: number): void {
    for (const [key] of keys) {
      const total = (inside.get(key) ?? 0) + change;
      if (total === 0) inside.delete(key);
      else inside.set(key, total);
    }
  }

  function add(keys: readonly KeyLimit[], change: number): void {
    held += change;
    count(counts, keys, change);
  }

  function hold(keys: readonly KeyLimit[]): () => void {
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

  function wait(keys: readonly KeyLimit[], signal: AbortSignal | undefined): Promise<() => void> {
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const leave = () => {
        statistics.waitedSeconds += secondsSince(startedAt);
        waiters.delete(waiter);
        count(waitingCounts, keys, -1);
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
      count(waitingCounts, keys, 1);
    });
  }

  async function acquire(of: SemaphoreKeys = {}, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const keys = limited(of);
    if (fits(keys)) return hold(keys);
    if (isQueueFull(keys)) {
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
