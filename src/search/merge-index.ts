import type { Database } from '../db/index.ts';
import type { OrderedList } from './ordered-list.ts';

/** Index pages that one write merges: some tens of milliseconds. */
const pagesPerWrite = 500;

/**
 * Merges the b-trees of an index, each from some writes: a search looks its trigrams up
 * in every one of them. Many short writes.
 * @param isEnding asked after each write
 */
export async function mergeIndex(db: Database, { index }: OrderedList, isEnding: () => boolean): Promise<void> {
  for (;;) {
    const changed = await db.write(
      async ({ manager }) => {
        const total = async () =>
          ((await manager.query('SELECT total_changes() AS total')) as [{ total: number }])[0].total;
        const before = await total();
        await manager.query(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`, [-pagesPerWrite]);
        return (await total()) - before;
      },
      { durable: 'with-the-next' },
    );
    // FTS5 says so when there is nothing left to merge.
    if (changed < 2 || isEnding()) return;
  }
}
