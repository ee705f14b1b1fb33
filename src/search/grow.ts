import type { Database, SideThread, Tx } from '../db/index.ts';
import { lengthOf, longerGrams, longestGram } from './grams.ts';
import type { KnownGrams } from './grown-grams.ts';
import { addWords } from './ordered-list.ts';
import type { OrderedList } from './ordered-list.ts';

interface Row {
  place: number;
  folded: string;
}

/**
 * Lets those grams of a list grow that more than `mostTexts` texts have: one short write
 * for each, in which it is noted and its longer grams are added to the index.
 * @param aside reads the whole index once, a second for a million texts
 * @param isEnding asked before each write
 * @returns how many have grown
 */
export async function growGrams(
  {
    db,
    known,
    aside,
    mostTexts,
    isEnding,
  }: { db: Database; known: KnownGrams; aside: SideThread; mostTexts: number; isEnding(): boolean },
  list: OrderedList,
): Promise<number> {
  await known.refresh((sql, parameters) => db.read.query(sql, parameters));
  const [frequent] = await aside.ask([
    { sql: `SELECT term FROM ${list.grams}_counts WHERE doc > ?`, parameters: [mostTexts] },
  ]);
  const due = frequent!
    .map(({ term }) => String(term))
    .filter((gram) => !known.of(list).has(gram) && lengthOf(gram) < longestGram);
  let done = 0;
  for (const gram of due) {
    if (isEnding()) return done;
    done += await db.write((tx) => grow(tx, list, gram, mostTexts), { durable: 'with-the-next' });
  }
  await known.refresh((sql, parameters) => db.read.query(sql, parameters));
  return done;
}

async function grow(tx: Tx, list: OrderedList, gram: string, mostTexts: number): Promise<number> {
  const { texts, grams } = list;
  const rows: Row[] = await tx.manager.query(
    `SELECT t.place, t.folded FROM ${grams} g CROSS JOIN ${texts} t ON t.place = g.rowid WHERE g.${grams} MATCH ? ORDER BY g.rowid`,
    [`"${gram}"`],
  );
  const grown: string[] = [];
  const added = new Map<number, string[]>(rows.map(({ place }) => [place, []]));
  growWith(rows, gram);

  /** A gram that is longer may have to grow at once, as nearly every text has it that has the shorter. */
  function growWith(having: readonly Row[], gram: string): void {
    grown.push(gram);
    const longer = new Map<string, Row[]>();
    for (const row of having) {
      for (const each of longerGrams(row, gram)) {
        added.get(row.place)!.push(each);
        const others = longer.get(each);
        if (others === undefined) longer.set(each, [row]);
        else others.push(row);
      }
    }
    for (const [each, those] of longer)
      if (those.length > mostTexts && lengthOf(each) < longestGram) growWith(those, each);
  }

  await tx.manager.query(`INSERT INTO search_grown_grams (list, gram) SELECT '${texts}', value FROM json_each(?)`, [
    JSON.stringify(grown),
  ]);
  await addWords(
    tx,
    list,
    [...added].flatMap(([place, words]) => (words.length === 0 ? [] : [[place, words.join(' ')] as const])),
  );
  return grown.length;
}

/** Index pages that one write merges: some tens of milliseconds. */
const pagesAtOnce = 500;

/**
 * Brings the parts together that an index consists of, each from some writes: a search
 * looks its grams up in every one of them. Many short writes.
 */
export async function mergeParts(db: Database, { grams }: OrderedList, isEnding: () => boolean): Promise<void> {
  for (;;) {
    const changed = await db.write(
      async ({ manager }) => {
        const total = async () =>
          ((await manager.query('SELECT total_changes() AS total')) as [{ total: number }])[0].total;
        const before = await total();
        await manager.query(`INSERT INTO ${grams} (${grams}, rank) VALUES ('merge', ?)`, [-pagesAtOnce]);
        return (await total()) - before;
      },
      { durable: 'with-the-next' },
    );
    // FTS5 says so when there is nothing left to merge.
    if (changed < 2 || isEnding()) return;
  }
}
