import type { Tx } from '../db/index.ts';
import { gramsOf } from './grams.ts';
import type { GrownGrams } from './grams.ts';
import { placesBetween } from './places.ts';

/** A list of texts in their order, and the index of their grams, which has a text's place as its number. */
export interface OrderedList {
  texts: 'search_repositories' | 'search_people';
  grams: 'search_repository_grams' | 'search_person_grams';
  /** What a row has beside its place, its id and its text. */
  columns: readonly string[];
  /** Whether a row with these values in its other columns is not for everybody to see. */
  isHidden(others: readonly (string | null)[]): boolean;
}

/** A folded text and what it belongs to. */
export interface ListedText {
  /** UUID. */
  id: string;
  folded: string;
  /** The values of the list's other columns, as a JSON array. */
  others: string;
}

interface PlacedText extends ListedText {
  place: number;
}

/** Texts for which the first try at making room looks, on either side. */
const firstReach = 32;
/** Room that neighbours get at least when they move apart, for each of them. */
const leastRoom = 2 ** 8;

const query = <Row>({ manager }: Tx, sql: string, ...parameters: unknown[]): Promise<Row[]> =>
  manager.query(sql, parameters);

/** The words of a text in the index. A row's words are always those that its text has with the grams that have grown. */
function wordsOf(list: OrderedList, { folded, others }: ListedText, grown: GrownGrams): string {
  return gramsOf({ folded, isHidden: list.isHidden(JSON.parse(others) as (string | null)[]) }, grown);
}

const selected = ({ texts, columns }: OrderedList): string =>
  `SELECT place, id, folded, json_array(${columns.join(', ')}) AS others FROM ${texts}`;

/** What the list has for these ids. */
export function listedTexts(tx: Tx, list: OrderedList, ids: readonly string[]): Promise<PlacedText[]> {
  return query(tx, `${selected(list)} WHERE id IN (SELECT value FROM json_each(?))`, JSON.stringify(ids));
}

/** Takes texts out of the list. */
export async function removeTexts(
  tx: Tx,
  list: OrderedList,
  gone: readonly PlacedText[],
  grown: GrownGrams,
): Promise<void> {
  const { texts, grams } = list;
  const rows = gone.toSorted((a, b) => a.place - b.place).map((text) => [text.place, wordsOf(list, text, grown)]);
  await query(
    tx,
    `INSERT INTO ${grams} (${grams}, rowid, grams) SELECT 'delete', value ->> 0, value ->> 1 FROM json_each(?)`,
    JSON.stringify(rows),
  );
  await query(
    tx,
    `DELETE FROM ${texts} WHERE place IN (SELECT value FROM json_each(?))`,
    JSON.stringify(rows.map(([place]) => place)),
  );
}

/** Adds words to those that rows have in the index already. @param added by place, ascending */
export async function addWords(
  tx: Tx,
  { grams }: OrderedList,
  added: readonly (readonly [place: number, words: string])[],
): Promise<void> {
  await query(
    tx,
    `INSERT INTO ${grams} (rowid, grams) SELECT value ->> 0, value ->> 1 FROM json_each(?)`,
    JSON.stringify(added),
  );
}

/** Puts texts into the list, each at its place in the order; none of their ids is in the list. */
export async function addTexts(
  tx: Tx,
  list: OrderedList,
  added: readonly ListedText[],
  grown: GrownGrams,
): Promise<void> {
  const sorted = added.toSorted((a, b) => compareAsSqlite(a.folded, b.folded));
  for (let at = 0; at < sorted.length; ) {
    const { before, after } = await neighbours(tx, list, sorted[at]!.folded);
    const end =
      after === null
        ? sorted.length
        : sorted.findIndex(({ folded }, other) => other > at && compareAsSqlite(folded, after.folded) >= 0);
    const run = sorted.slice(at, end === -1 ? sorted.length : end);
    const places = placesBetween(before?.place ?? null, after?.place ?? null, run.length);
    if (places === null) {
      // Only between two texts can room run out.
      await moveApart(tx, list, before!.place, run.length, grown);
      continue;
    }
    await insert(
      tx,
      list,
      run.map((text, index) => ({ ...text, place: places[index]! })),
      grown,
    );
    at += run.length;
  }
}

async function insert(tx: Tx, list: OrderedList, placed: readonly PlacedText[], grown: GrownGrams): Promise<void> {
  const rows = placed.map(({ place, id, folded, others }) => [
    place,
    id,
    folded,
    ...(JSON.parse(others) as (string | null)[]),
  ]);
  const names = ['place', 'id', 'folded', ...list.columns];
  const values = names.map((_, at) => `value ->> ${at}`).join(', ');
  await query(
    tx,
    `INSERT INTO ${list.texts} (${names.join(', ')}) SELECT ${values} FROM json_each(?)`,
    JSON.stringify(rows),
  );
  await addWords(
    tx,
    list,
    placed.map((text) => [text.place, wordsOf(list, text, grown)]),
  );
}

type Neighbour = Pick<PlacedText, 'place' | 'folded'>;

async function neighbours(
  tx: Tx,
  { texts }: OrderedList,
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

/** Spreads texts around a place evenly, over as many neighbours as it takes to find room for `count` more between any two. */
async function moveApart(tx: Tx, list: OrderedList, around: number, count: number, grown: GrownGrams): Promise<void> {
  for (let reach = firstReach; ; reach *= 2) {
    const columns = selected(list);
    const below = await query<PlacedText>(tx, `${columns} WHERE place <= ? ORDER BY place DESC LIMIT ?`, around, reach);
    const above = await query<PlacedText>(tx, `${columns} WHERE place > ? ORDER BY place LIMIT ?`, around, reach);
    // The outermost stay where they are, unless they are the ends of the list.
    const low = below.length === reach ? below.pop()!.place : null;
    const high = above.length === reach ? above.pop()!.place : null;
    const moving = [...below.reverse(), ...above];
    const isWideEnough =
      low === null || high === null || high - low >= (moving.length + 1) * Math.max(leastRoom, count + 1);
    if (!isWideEnough) continue;
    const places = placesBetween(low, high, moving.length)!;
    await removeTexts(tx, list, moving, grown);
    await insert(
      tx,
      list,
      moving.map((text, at) => ({ ...text, place: places[at]! })),
      grown,
    );
    return;
  }
}

/** SQLite compares the bytes of UTF-8; JavaScript's `<` has another order for characters beyond the first plane. */
function compareAsSqlite(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
