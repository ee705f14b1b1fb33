/** Runs work of one key in order, one at a time; work of different keys runs side by side. */
export type KeyedMutex<Key> = <T>(key: Key, work: () => Promise<T>) => Promise<T>;

/** A failure reaches its caller and does not stop the work queued behind it. */
export function createKeyedMutex<Key = string>(): KeyedMutex<Key> {
  const tails = new Map<Key, Promise<unknown>>();
  return function runExclusive<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const result = (tails.get(key) ?? Promise.resolve()).then(work);
    const tail = result
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return result;
  };
}
