import type { SideThread } from '../db/index.ts';
import type { OrderedList } from './ordered-list.ts';

/** Walking through a list of hits that is longer than this costs more than what it leaves out. */
const mostCounted = 10_000;
/** Grams of so many times the rarest one's number narrow a search down by less than they cost. */
const worthwhile = 4;
const mostKept = 4;
const keptCounts = 5_000;
/** Counts become wrong with time; then they are taken again. */
const usesOfCounts = 20_000;

type Grams = OrderedList['grams'];

/**
 * Picks those grams of a query that few texts have: the index has to walk through the
 * hits of every gram that it is asked for. How many have one is counted once and kept for a
 * while, since a wrong count costs time and never an answer.
 */
export function createRareGrams(thread: SideThread) {
  const counts = new Map<string, number>();
  let uses = 0;

  async function count(wanted: readonly (readonly [list: Grams, gram: string])[]): Promise<void> {
    if ((uses += 1) % usesOfCounts === 0 || counts.size > keptCounts) counts.clear();
    const unknown = wanted.filter(([list, gram]) => !counts.has(list + gram));
    if (unknown.length === 0) return;
    const rows = await thread.ask(unknown.map(([list, gram]) => ({
      sql: `SELECT count(*) AS texts FROM (SELECT 1 FROM ${list} WHERE ${list} MATCH :gram LIMIT ${mostCounted})`,
      parameters: { gram: `"${gram}"` },
    })));
    for (const [at, [list, gram]] of unknown.entries()) counts.set(list + gram, Number(rows[at]![0]!['texts']));
  }

  /** @param grams all that may be asked for; at least one of them is given back for each list */
  return async function pick<List extends Grams>(lists: readonly List[], grams: readonly string[]): Promise<Record<List, string[]>> {
    if (grams.length > 1) await count(lists.flatMap((list) => grams.map((gram) => [list, gram] as const)));
    return Object.fromEntries(lists.map((list) => {
      const known = grams.map((gram) => ({ gram, texts: counts.get(list + gram) ?? 0 })).sort((a, b) => a.texts - b.texts);
      const limit = Math.max(known[0]!.texts * worthwhile, 100);
      return [list, known.filter(({ texts }) => texts <= limit).slice(0, mostKept).map(({ gram }) => gram)];
    })) as Record<List, string[]>;
  };
}

export type PickRareGrams = ReturnType<typeof createRareGrams>;
