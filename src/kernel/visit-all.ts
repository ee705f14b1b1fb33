import { yieldToEventLoop } from './yield-to-event-loop.ts';

/** Number of items between two checks of the clock. */
const itemsPerLook = 64;

/**
 * Visits items in order, and yields to other work whenever this turn of the event loop has taken some milliseconds: for
 * lists whose length a push, an import or a client decides.
 */
export async function visitAll<Item>(items: Iterable<Item>, visit: (item: Item, index: number) => void): Promise<void> {
  let index = 0;
  for (const item of items) {
    if (index % itemsPerLook === 0) {
      const wait = yieldToEventLoop();
      if (wait !== undefined) await wait;
    }
    visit(item, index);
    index += 1;
  }
}

/** Like `Array.map`, with the same pauses. */
export async function mapAll<Item, Result>(
  items: Iterable<Item>,
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  await visitAll(items, (item, index) => void results.push(map(item, index)));
  return results;
}
