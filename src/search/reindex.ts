import { listTable } from '../db/index.ts';
import type { Database } from '../db/index.ts';

const rowsAtOnce = 200;

/** Rows that are searched, and rows of the index whose own row is gone. */
const places = [
  { kind: 'repository', ids: 'SELECT id FROM repositories UNION SELECT id FROM search_repositories ORDER BY id' },
  { kind: 'person', ids: 'SELECT id FROM users UNION SELECT id FROM search_people ORDER BY id' },
] as const;

/**
 * Looks at everything that is searched as if it had just changed: what the index lacks, has
 * wrongly or too much is put right by the write that notes it. Many short writes, between which
 * others have their turn. Answers how many rows were looked at.
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
