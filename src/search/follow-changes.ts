import type { Database, Tx } from '../db/index.ts';
import { foldFields } from './fold.ts';
import { hiddenMark } from './grams.ts';
import { addTexts, listedTexts, removeTexts } from './ordered-list.ts';
import type { ListedText, OrderedList } from './ordered-list.ts';

type Kind = 'repository' | 'person';

interface Change {
  kind: Kind;
  id: string;
}

/**
 * What is searched for each kind, as the rows are now: what is in the trash or has no
 * handle is missing. `hit` is what an answer has of the row (SPEC §2.4): exactly these
 * fields, in this order. The rest is what the access policy asks of a row.
 */
const sources: Record<Kind, { list: OrderedList; rows: string; fields: readonly string[] }> = {
  repository: {
    list: {
      texts: 'search_repositories',
      grams: 'search_repository_grams',
      columns: ['owner_user_id', 'owner_org_id', 'visibility', 'hit'],
      marksOf: ([, , visibility]) => (visibility === 'PUBLIC' ? '' : hiddenMark),
    },
    rows: `SELECT r.id, h.display AS owner, r.name, r.description,
        json_array(r.owner_user_id, r.owner_org_id, r.visibility, CAST(json_object('owner', h.display, 'name', r.name, 'visibility', r.visibility,
          'description', r.description, 'createdAt', strftime('%Y-%m-%dT%H:%M:%fZ', r.created_at / 1000.0, 'unixepoch')) AS TEXT)) AS others
      FROM repositories r
      JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL
      WHERE r.id IN (SELECT value FROM json_each(?)) AND r.deleted_at IS NULL`,
    fields: ['owner', 'name', 'description'],
  },
  person: {
    list: { texts: 'search_people', grams: 'search_person_grams', columns: ['hit'], marksOf: () => '' },
    rows: `SELECT u.id, u.username, u.display_name,
        json_array(CAST(json_object('username', u.username, 'displayName', u.display_name) AS TEXT)) AS others
      FROM users u
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
  const wanted = found.map((row): ListedText => ({ id: row['id']!, folded: foldFields(...fields.map((field) => row[field]!)), others: row['others']! }));
  const known = await listedTexts(tx, list, ids);

  const wantedById = new Map(wanted.map((text) => [text.id, text]));
  const knownById = new Map(known.map((text) => [text.id, text]));
  const isSame = (text: ListedText, other: ListedText | undefined) => other?.folded === text.folded && other.others === text.others;
  const added = wanted.filter((text) => !isSame(text, knownById.get(text.id)));
  const gone = known.filter((text) => !isSame(text, wantedById.get(text.id)));
  if (gone.length > 0) await removeTexts(tx, list, gone);
  if (added.length > 0) await addTexts(tx, list, added);
}
