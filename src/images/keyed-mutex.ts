/** Runs work of the same key one after the other, work of different keys concurrently. */
export function createKeyedMutex() {
  const tails = new Map<string, Promise<unknown>>();
  return function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
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
