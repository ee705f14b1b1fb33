import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one turn of the event loop may last, in milliseconds. */
const turnMs = 8;
/** Items between two looks at the clock. */
const itemsPerLook = 64;

/**
 * Visits items in order, and lets other work run whenever that has taken some milliseconds: for lists whose length a
 * push, an import or a client decides.
 */
export async function visitAll<Item>(items: Iterable<Item>, visit: (item: Item, index: number) => void): Promise<void> {
  let turn = performance.now();
  let index = 0;
  for (const item of items) {
    if (index % itemsPerLook === itemsPerLook - 1 && performance.now() - turn > turnMs) {
      await nextTurn();
      turn = performance.now();
    }
    visit(item, index);
    index += 1;
  }
}
