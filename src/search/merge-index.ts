import type { Database } from '../db/index.ts';
import type { DocumentList } from './document-list.ts';

/** Index pages merged in one write: some tens of milliseconds. */
const pagesPerWrite = 500;

/**
 * Merges the b-trees of an index, of which each write adds one: a search looks up its trigrams in all of them. Uses
 * many short writes.
 * @param isEnding checked after each write
 */
export async function mergeIndex(
  db: Database,
  { index }: { index: DocumentList['index'] | 'search_entry_trigrams' },
  isEnding: () => boolean,
): Promise<void> {
  if (db.dialect === 'postgres') return;
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
    // FTS5 reports that nothing is left to merge.
    if (changed < 2 || isEnding()) return;
  }
}
