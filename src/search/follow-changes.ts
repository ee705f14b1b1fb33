import type { Database, Tx } from '../db/index.ts';
import { foldFields } from './fold.ts';
import { addTexts, listedTexts, removeTexts } from './ordered-list.ts';
import type { ListedText, OrderedList } from './ordered-list.ts';

type Kind = 'repository' | 'person';

interface Change {
  kind: Kind;
  id: string;
}

/** What is searched for each kind, as the rows are now: what is in the trash or has no handle is missing. */
const sources: Record<Kind, { list: OrderedList; rows: string; fields: readonly string[] }> = {
  repository: {
    list: { texts: 'search_repositories', grams: 'search_repository_grams' },
    rows: `SELECT r.id, h.display AS owner, r.name, r.description FROM repositories r
      JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL
      WHERE r.id IN (SELECT value FROM json_each(?)) AND r.deleted_at IS NULL`,
    fields: ['owner', 'name', 'description'],
  },
  person: {
    list: { texts: 'search_people', grams: 'search_person_grams' },
    rows: `SELECT u.id, u.username, u.display_name FROM users u
      WHERE u.id IN (SELECT value FROM json_each(?)) AND u.username IS NOT NULL`,
    fields: ['username', 'display_name'],
  },
};

/** Rows looked at together; few enough that a text always finds room between two others. */
const rowsAtOnce = 500;

/**
 * Brings the index up to date with everything that the open write has changed, so that
 * a search sees a change when it sees the row, and neither without the other.
 */
export async function followChanges(tx: Tx): Promise<void> {
  const changes: Change[] = await tx.manager.query('DELETE FROM search_changes RETURNING kind, id');
  await follow(tx, changes);
}

/**
 * Works off what was noted while nobody followed: before the first start with an index.
 * Many short writes, between which others have their turn.
 */
export async function catchUp(db: Database): Promise<number> {
  let done = 0;
  for (;;) {
    const more = await db.write(async (tx) => {
      const changes: Change[] = await tx.manager.query(
        'DELETE FROM search_changes WHERE (kind, id) IN (SELECT kind, id FROM search_changes LIMIT ?) RETURNING kind, id',
        [rowsAtOnce],
      );
      await follow(tx, changes);
      return changes.length;
    });
    if (more === 0) return done;
    done += more;
  }
}

async function follow(tx: Tx, changes: readonly Change[]): Promise<void> {
  for (const kind of ['repository', 'person'] as const) {
    const ids = changes.filter((change) => change.kind === kind).map(({ id }) => id);
    for (let start = 0; start < ids.length; start += rowsAtOnce) await refresh(tx, kind, ids.slice(start, start + rowsAtOnce));
  }
}

async function refresh(tx: Tx, kind: Kind, ids: readonly string[]): Promise<void> {
  const { list, rows, fields } = sources[kind];
  const found: Record<string, string>[] = await tx.manager.query(rows, [JSON.stringify(ids)]);
  const wanted = found.map((row): ListedText => ({ id: row['id']!, folded: foldFields(...fields.map((field) => row[field]!)) }));
  const known = await listedTexts(tx, list, ids);

  const wantedById = new Map(wanted.map(({ id, folded }) => [id, folded]));
  const knownById = new Map(known.map(({ id, folded }) => [id, folded]));
  const added = wanted.filter(({ id, folded }) => knownById.get(id) !== folded);
  const gone = known.filter(({ id, folded }) => wantedById.get(id) !== folded);
  if (gone.length > 0) await removeTexts(tx, list, gone);
  if (added.length > 0) await addTexts(tx, list, added);
}
