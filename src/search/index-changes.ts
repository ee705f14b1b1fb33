import { rows } from '../db/index.ts';
import type { Database, Tx } from '../db/index.ts';
import { foldFields } from './fold-text.ts';
import { updateIssueIndex } from './issues/update-index.ts';
import { searchSources } from './search-sources.ts';
import type { Kind } from './search-sources.ts';
import { addDocuments, findListedDocuments, removeDocuments } from './document-list.ts';
import type { ListedDocument } from './document-list.ts';

interface Change {
  kind: Kind | 'entry';
  id: string;
}

/** Rows per step; few enough that there is always an order key between two others. */
const rowsAtOnce = 500;
/** Number of rows indexed before the server accepts requests; further ones are indexed while it runs. */
const rowsBefore = 2_000;
/** Owners whose rows are indexed in one write at that time. */
const ownersAtOnce = 250;

const kinds = ['repository', 'person'] as const;

/**
 * Updates the index with all changes of the open write, so that a search sees a change exactly when it sees the row.
 */
export async function indexChanges(tx: Tx): Promise<void> {
  const changes = await rows<Change>(tx.manager, 'DELETE FROM search_changes RETURNING kind, id');
  if (changes.length > 0) await follow(tx, changes, rowsAtOnce);
}

/** Whether more changes were recorded without an index than the start indexes. Needs no write. */
export async function hasManyMissedChanges(db: Database): Promise<boolean> {
  return (await db.read.query('SELECT 1 FROM search_changes LIMIT 1 OFFSET ?', [rowsBefore])).length > 0;
}

/**
 * Indexes changes recorded without an index: before the first start with one, and after a change of its format. Uses
 * short writes, so that others can run in between.
 * @param isEnding checked after each write
 * @returns the number of rows
 */
export async function indexMissedChanges(db: Database, isEnding: () => boolean): Promise<number> {
  // The usual case: nothing was recorded.
  if ((await db.read.query('SELECT 1 FROM search_changes LIMIT 1')).length === 0) return 0;
  // In the order of the lists, so that each row is appended: finding a position in the middle is slower.
  const step = 'SELECT max(folded) AS last FROM (SELECT folded FROM handles WHERE folded > ? ORDER BY folded LIMIT ?)';
  const isMuch = await hasManyMissedChanges(db);
  let done = 0;
  for (let first = ''; isMuch && !isEnding(); ) {
    const [{ last }] = (await db.read.query(step, [first, ownersAtOnce])) as [{ last: string | null }];
    if (last === null) break;
    for (const kind of kinds) done += await workOff(db, kind, ofOwners[kind], [first, last]);
    first = last;
  }
  for (const kind of [...kinds, 'entry'] as const) {
    for (let more = 1; more > 0 && !isEnding(); done += more) {
      more = await workOff(db, kind, `SELECT id FROM search_changes WHERE kind = '${kind}' LIMIT ?`, [rowsAtOnce]);
    }
  }
  return done;
}

const owners = 'SELECT owner_id FROM handles WHERE folded > ?1 AND folded <= ?2 AND released_at IS NULL';

/** Ids of the rows in a range of owner names. */
const ofOwners: Record<Kind, string> = {
  repository: `
    SELECT r.id FROM (${owners}) o CROSS JOIN repositories r ON r.owner_user_id = o.owner_id WHERE r.deleted_at IS NULL
    UNION ALL SELECT r.id FROM (${owners}) o CROSS JOIN repositories r ON r.owner_org_id = o.owner_id WHERE r.deleted_at IS NULL`,
  person: owners,
};

/** Processes some of the recorded changes. @returns their number */
function workOff(db: Database, kind: Change['kind'], ids: string, parameters: unknown[]): Promise<number> {
  return db.write(
    async (tx) => {
      const changes = await rows<Change>(
        tx.manager,
        `DELETE FROM search_changes WHERE kind = '${kind}' AND id IN (${ids}) RETURNING kind, id`,
        parameters,
      );
      await follow(tx, changes, rowsAtOnce);
      return changes.length;
    },
    { durable: 'with-the-next' },
  );
}

async function follow(tx: Tx, changes: readonly Change[], atOnce: number): Promise<void> {
  for (const kind of kinds) {
    const ids = changes.filter((change) => change.kind === kind).map(({ id }) => id);
    for (let start = 0; start < ids.length; start += atOnce) await refresh(tx, kind, ids.slice(start, start + atOnce));
  }
  const entries = changes.filter(({ kind }) => kind === 'entry');
  if (entries.length > 0)
    await updateIssueIndex(
      tx,
      entries.map(({ id }) => id),
    );
}

async function refresh(tx: Tx, kind: Kind, ids: readonly string[]): Promise<void> {
  const { list, rows, fields } = searchSources[kind];
  const found: Record<string, string>[] = await tx.manager.query(rows, [JSON.stringify(ids)]);
  const wanted = found.map(
    (row): ListedDocument => ({
      id: row['id']!,
      folded: foldFields(...fields.map((field) => row[field]!)),
      others: row['others']!,
    }),
  );
  const known = await findListedDocuments(tx, list, ids);

  const wantedById = new Map(wanted.map((text) => [text.id, text]));
  const knownById = new Map(known.map((text) => [text.id, text]));
  const isSame = (text: ListedDocument, other: ListedDocument | undefined) =>
    other?.folded === text.folded && other.others === text.others;
  const added = wanted.filter((text) => !isSame(text, knownById.get(text.id)));
  const gone = known.filter((text) => !isSame(text, wantedById.get(text.id)));
  if (gone.length > 0) await removeDocuments(tx, list, gone);
  if (added.length > 0) await addDocuments(tx, list, added);
}
