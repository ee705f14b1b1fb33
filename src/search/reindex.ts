import { listTable } from '../db/index.ts';
import type { Database } from '../db/index.ts';

const rowsAtOnce = 200;

/** Searched rows, and rows of the index without a row of their own. */
const places = [
  { kind: 'repository', ids: 'SELECT id FROM repositories UNION SELECT id FROM search_repositories ORDER BY id' },
  { kind: 'person', ids: 'SELECT id FROM users UNION SELECT id FROM search_people ORDER BY id' },
  {
    kind: 'entry',
    ids: `SELECT issue_id || ' ' || position AS id FROM issue_entries WHERE body IS NOT NULL OR position = 0
      UNION SELECT issue_id || ' ' || position FROM search_entries`,
  },
] as const;

/**
 * Treats all searched rows as changed: the write that records a row corrects missing, wrong and surplus entries. Uses
 * many short writes, so that others are not blocked. Returns the number of checked rows.
 */
export async function reindex(db: Database): Promise<number> {
  let done = 0;
  for (const { kind, ids } of places) {
    const all: { id: string }[] = await db.read.query(ids);
    for (let start = 0; start < all.length; start += rowsAtOnce) {
      const some = all.slice(start, start + rowsAtOnce).map(({ id }) => id);
      await db.write(({ manager }) =>
        manager.query(
          `INSERT INTO search_changes (kind, id) SELECT ?, value FROM ${listTable()} WHERE true ON CONFLICT DO NOTHING`,
          [kind, JSON.stringify(some)],
        ),
      );
      done += some.length;
    }
  }
  return done;
}
