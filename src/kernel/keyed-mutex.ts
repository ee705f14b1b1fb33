/** Runs work of one key in order, one at a time; work of different keys runs concurrently. */
export interface KeyedMutex<Key> {
  /** An error reaches its caller and does not stop the work queued behind it. */
  <T>(key: Key, work: () => Promise<T>): Promise<T>;
  /** Whether work of this key is running or waiting. */
  isHeld(key: Key): boolean;
  /** Keys with running or waiting work. */
  held(): number;
  /** Resolves when all work queued so far has ended. */
  settled(): Promise<void>;
}

export function createKeyedMutex<Key = string>(): KeyedMutex<Key> {
  const tails = new Map<Key, Promise<void>>();
  function runExclusive<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const result = (tails.get(key) ?? Promise.resolve()).then(work);
    const end = (): void => {
      if (tails.get(key) === tail) tails.delete(key);
    };
    const tail: Promise<void> = result.then(end, end);
    tails.set(key, tail);
    return result;
  }
  return Object.assign(runExclusive, {
    isHeld: (key: Key) => tails.has(key),
    held: () => tails.size,
    settled: async () => void (await Promise.all(tails.values())),
  });
}
