import { dialectOf, inList, rowsTable } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import { orderKeysBetween } from './order-keys.ts';

/** A sorted list of texts, and the trigram index of the public ones, whose rowid is the order key. */
export interface DocumentList {
  texts: 'search_repositories' | 'search_people';
  index: 'search_repository_trigrams' | 'search_person_trigrams';
  /** The columns of a row besides its order key, id and text. */
  columns: readonly string[];
  /** Whether a row with these values in its other columns is private; private rows are not indexed. */
  isHidden(others: readonly (string | null)[]): boolean;
}

/** A folded text and its owner or repository. */
export interface ListedDocument {
  /** UUID. */
  id: string;
  folded: string;
  /** The values of the list's other columns, as a JSON array. */
  others: string;
}

interface PlacedText extends ListedDocument {
  place: number;
}

/** Number of neighbours on either side in the first attempt at respacing. */
const firstReach = 32;
const indexedColumns = { place: 'bigint', folded: 'text' } as const;
/** The minimum distance of neighbours after respacing. */
const minDistance = 2 ** 8;

const query = <Row>({ manager }: Tx, sql: string, ...parameters: unknown[]): Promise<Row[]> =>
  manager.query(sql, parameters);

/** The index rows of some texts. */
const indexed = (list: DocumentList, texts: readonly PlacedText[]): [place: number, folded: string][] =>
  texts
    .filter(({ others }) => !list.isHidden(JSON.parse(others) as (string | null)[]))
    .map(({ place, folded }) => [place, folded]);

const selected = ({ texts, columns }: DocumentList): string =>
  `SELECT place, id, folded, json_array(${columns.join(', ')}) AS others FROM ${texts}`;

/** The list's rows with these ids. */
export function findListedDocuments(tx: Tx, list: DocumentList, ids: readonly string[]): Promise<PlacedText[]> {
  return query(tx, `${selected(list)} WHERE ${inList('id')}`, JSON.stringify(ids));
}

/** Removes texts from the list. A contentless index needs the text to remove it. */
export async function removeDocuments(tx: Tx, list: DocumentList, gone: readonly PlacedText[]): Promise<void> {
  const { texts, index } = list;
  const sorted = gone.toSorted((a, b) => a.place - b.place);
  if (dialectOf(tx.manager) === 'sqlite')
    await query(
      tx,
      `INSERT INTO ${index} (${index}, rowid, folded) SELECT 'delete', place, folded FROM ${rowsTable(indexedColumns)}`,
      JSON.stringify(indexed(list, sorted)),
    );
  await query(
    tx,
    `DELETE FROM ${texts} WHERE ${inList('place', { type: 'bigint' })}`,
    JSON.stringify(sorted.map(({ place }) => place)),
  );
}

/** Inserts texts in order; none of their ids may be in the list. */
export async function addDocuments(tx: Tx, list: DocumentList, added: readonly ListedDocument[]): Promise<void> {
  const sorted = added.toSorted((a, b) => compareAsSqlite(a.folded, b.folded));
  for (let at = 0; at < sorted.length; ) {
    const { before, after } = await neighbours(tx, list, sorted[at]!.folded);
    const end =
      after === null
        ? sorted.length
        : sorted.findIndex(({ folded }, other) => other > at && compareAsSqlite(folded, after.folded) >= 0);
    const run = sorted.slice(at, end === -1 ? sorted.length : end);
    const places = orderKeysBetween(before?.place ?? null, after?.place ?? null, run.length);
    if (places === null) {
      // Only a gap between two texts can be too small.
      await moveApart(tx, list, before!.place, run.length);
      continue;
    }
    await insert(
      tx,
      list,
      run.map((text, index) => ({ ...text, place: places[index]! })),
    );
    at += run.length;
  }
}

async function insert(tx: Tx, list: DocumentList, placed: readonly PlacedText[]): Promise<void> {
  const rows = placed.map(({ place, id, folded, others }) => [
    place,
    id,
    folded,
    ...(JSON.parse(others) as (string | null)[]),
  ]);
  const names = ['place', 'id', 'folded', ...list.columns];
  const columns = Object.fromEntries(names.map((name) => [name, name === 'place' ? 'bigint' : 'text'] as const));
  await query(
    tx,
    `INSERT INTO ${list.texts} (${names.join(', ')}) SELECT ${names.join(', ')} FROM ${rowsTable(columns)}`,
    JSON.stringify(rows),
  );
  // PostgreSQL maintains its trigram index automatically.
  if (dialectOf(tx.manager) === 'postgres') return;
  await query(
    tx,
    `INSERT INTO ${list.index} (rowid, folded) SELECT place, folded FROM ${rowsTable(indexedColumns)}`,
    JSON.stringify(indexed(list, placed)),
  );
}

type Neighbour = Pick<PlacedText, 'place' | 'folded'>;

async function neighbours(
  tx: Tx,
  { texts }: DocumentList,
  folded: string,
): Promise<{ before: Neighbour | null; after: Neighbour | null }> {
  const [before = null] = await query<Neighbour>(
    tx,
    `SELECT place, folded FROM ${texts} WHERE folded < ? ORDER BY folded DESC, place DESC LIMIT 1`,
    folded,
  );
  const [after = null] = await query<Neighbour>(
    tx,
    `SELECT place, folded FROM ${texts} WHERE folded >= ? ORDER BY folded, place LIMIT 1`,
    folded,
  );
  return { before, after };
}

/** Respaces the neighbours of a position evenly, as many as needed for `count` more keys between any two. */
async function moveApart(tx: Tx, list: DocumentList, around: number, count: number): Promise<void> {
  for (let reach = firstReach; ; reach *= 2) {
    const columns = selected(list);
    const below = await query<PlacedText>(tx, `${columns} WHERE place <= ? ORDER BY place DESC LIMIT ?`, around, reach);
    const above = await query<PlacedText>(tx, `${columns} WHERE place > ? ORDER BY place LIMIT ?`, around, reach);
    // The outermost ones keep their keys, unless they are the ends of the list.
    const low = below.length === reach ? below.pop()!.place : null;
    const high = above.length === reach ? above.pop()!.place : null;
    const moving = [...below.reverse(), ...above];
    const isWideEnough =
      low === null || high === null || high - low >= (moving.length + 1) * Math.max(minDistance, count + 1);
    if (!isWideEnough) continue;
    const places = orderKeysBetween(low, high, moving.length)!;
    await removeDocuments(tx, list, moving);
    await insert(
      tx,
      list,
      moving.map((text, at) => ({ ...text, place: places[at]! })),
    );
    return;
  }
}

/** SQLite compares UTF-8 bytes; JavaScript's `<` orders characters beyond the basic plane differently. */
function compareAsSqlite(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
