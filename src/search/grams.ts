/**
 * The index of grams: for every text, which single characters, pairs and triples
 * occur in it. It only proposes; whether a text really contains a query is decided by
 * looking into the text. So the index answers for queries of any length, and a gram
 * too few costs time, never an answer.
 */

/** The index has this word for what not everybody may see; no gram is spelled like it. */
export const hiddenMark = 'hidden';

/** More triples than these hardly narrow a search down any further. */
const maxProposing = 12;

/**
 * All grams of a folded text, as the words that FTS5's `ascii` tokenizer takes apart
 * again. A gram is spelled in hexadecimal, because characters such as a space or `%`
 * are no part of any word: `ab` is `61x62`.
 */
export function gramsOf(folded: string): string {
  const units = spell(folded);
  const grams = new Set<string>();
  for (let length = 1; length <= 3; length++) for (const gram of slices(units, length)) grams.add(gram);
  return [...grams].join(' ');
}

/** Whether the index itself knows, as every text with this gram contains it. */
export const isGram = (folded: string): boolean => [...folded].length <= 3;

/**
 * Grams that every text has which contains a folded query.
 * @param folded not empty
 */
export function gramsOfQuery(folded: string): string[] {
  const units = spell(folded);
  const grams = [...new Set(slices(units, Math.min(3, units.length)))];
  const step = Math.max(1, grams.length / maxProposing);
  return Array.from({ length: Math.min(grams.length, maxProposing) }, (_, at) => grams[Math.floor(at * step)]!);
}

/** The FTS5 query for texts that have all these grams. */
export const proposing = (grams: readonly string[]): string => grams.map((gram) => `"${gram}"`).join(' AND ');

const spell = (text: string): string[] => [...text].map((character) => character.codePointAt(0)!.toString(16));

function slices(units: readonly string[], length: number): string[] {
  return Array.from({ length: Math.max(0, units.length - length + 1) }, (_, at) => units.slice(at, at + length).join('x'));
}
