/**
 * Runs the work for every item, at most `limit` at a time, in order. Rejects with the first error: then nothing more
 * starts, and all started work has ended.
 */
export async function eachLimit<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && failures.length === 0; next = left.next())
      await work(next.value).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (failures.length > 0) throw failures[0];
}
