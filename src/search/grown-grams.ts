import type { GrownGrams } from './grams.ts';
import type { OrderedList } from './ordered-list.ts';

/** Runs a query on whichever connection is right at the moment. */
export type Query = (sql: string, parameters: unknown[]) => Promise<unknown[]>;

type List = OrderedList['texts'];

/**
 * The grams of each list that have grown, as they are in the database; some ten thousand
 * for a million texts. One that has grown stays so. A search may know too few of them, as
 * the lists of all that a longer gram begins with stay complete; a write must know all.
 */
export function createGrownGrams() {
  const known: Record<List, Set<string>> = { search_repositories: new Set(), search_people: new Set() };
  let last = 0;
  return {
    of: (list: Pick<OrderedList, 'texts'>): GrownGrams => known[list.texts],

    /** Learns of what others have committed. */
    async refresh(query: Query): Promise<void> {
      const rows = (await query('SELECT number, list, gram FROM search_grown_grams WHERE number > ? ORDER BY number', [
        last,
      ])) as { number: number; list: List; gram: string }[];
      for (const { number, list, gram } of rows) {
        known[list].add(gram);
        last = Math.max(last, number);
      }
    },
  };
}

export type KnownGrams = ReturnType<typeof createGrownGrams>;
