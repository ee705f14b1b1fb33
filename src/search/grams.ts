/**
 * The index of grams: for every text, which sequences of characters occur in it. A gram
 * of which many texts have one has grown: the index then knows the grams that are longer by
 * one character, too. So no list that a search has to look through is long, unless it
 * holds nothing but answers, and a small instance has a small index.
 */

/** Grams that have grown; what is not in here is in few texts. Marked ones count by themselves. */
export type GrownGrams = ReadonlySet<string>;

/** A text, as the index of grams has it. */
export interface IndexedText {
  folded: string;
  /** Not everybody may see it: its grams are marked, and what everybody may see has none of them. */
  isHidden: boolean;
}

/** What to ask the index for. */
export interface Proposal {
  /** Every text that contains the query has all of these; never empty. */
  grams: string[];
  /** Every text that has them contains the query. */
  isDecided: boolean;
}

/** Longer than this no gram grows: texts that thousands have in common would have thousands of grams. */
export const longestGram = 16;

/** More grams than these hardly narrow a search down any further. */
const mostAsked = 4;

/** Stands between the fields of a text, so that nothing is found across two of them. No field may contain it. */
export const separator = '\u0001';

/** Not a character. With what follows it, it stands for one that FTS5's `ascii` tokenizer would take for the end of a word. */
const escape = '\ufdd0';
const hiddenMark = `${escape}h`;
const plain = /[a-z0-9\u0080-\ufdcf\ufdd1-\u{10ffff}]/u;

function spell(character: string): string {
  return plain.test(character)
    ? character
    : escape + (character === escape ? 'e' : character.codePointAt(0)!.toString(16).padStart(2, '0'));
}

const spellings = new Map<string, string>(
  Array.from({ length: 128 }, (_, code) => [String.fromCharCode(code), spell(String.fromCharCode(code))]),
);
const spelled = (text: string): string[] =>
  Array.from(text, (character) => spellings.get(character) ?? spell(character));

const markOf = (isHidden: boolean): string => (isHidden ? hiddenMark : '');

/** The shortest gram at a place that has not grown, and all grams that it begins with. */
function* gramsAt(units: readonly string[], start: number, mark: string, grown: GrownGrams): Generator<string> {
  const end = Math.min(units.length, start + longestGram);
  let gram = mark;
  for (let at = start; at < end; at++) {
    gram += units[at];
    yield gram;
    if (!grown.has(gram)) return;
  }
}

/** All grams of a text, as words that the tokenizer takes apart again. */
export function gramsOf({ folded, isHidden }: IndexedText, grown: GrownGrams): string {
  const mark = markOf(isHidden);
  const grams = new Set<string>();
  for (const field of folded.split(separator)) {
    const units = spelled(field);
    for (let start = 0; start < units.length; start++)
      for (const gram of gramsAt(units, start, mark, grown)) grams.add(gram);
  }
  return [...grams].join(' ');
}

/** Those grams of a text that are longer by one character than this one, which it has: what the index lacks when the gram grows. */
export function longerGrams({ folded }: Pick<IndexedText, 'folded'>, gram: string): string[] {
  const isMarked = gram.startsWith(hiddenMark);
  const wanted = isMarked ? gram.slice(hiddenMark.length) : gram;
  const longer = new Set<string>();
  for (const field of folded.split(separator)) {
    const units = spelled(field);
    for (let start = 0; start < units.length; start++) {
      let begun = '';
      let at = start;
      while (at < units.length && begun.length < wanted.length) begun += units[at++];
      if (begun === wanted && at < units.length) longer.add(gram + units[at]);
    }
  }
  return [...longer];
}

/** How many characters a gram has. */
export function lengthOf(gram: string): number {
  const unmarked = gram.startsWith(hiddenMark) ? gram.slice(hiddenMark.length) : gram;
  return [...unmarked.replaceAll(/\ufdd0(?:e|[0-9a-f]{2})/g, ' ')].length;
}

/**
 * What every text has that contains a folded query.
 * @param folded not empty
 * @param isHidden whether to look among the texts that not everybody may see
 */
export function propose(folded: string, isHidden: boolean, grown: GrownGrams): Proposal {
  const units = spelled(folded);
  const mark = markOf(isHidden);
  const longest = units.map((_, start) => [...gramsAt(units, start, mark, grown)].at(-1)!);
  if (longest[0] === mark + units.join('')) return { grams: [longest[0]], isDecided: true };
  const rare = new Set(longest.filter((gram) => !grown.has(gram)));
  // Only where thousands of texts have a long part in common is there nothing rare.
  const asked = rare.size > 0 ? [...rare] : [...new Set(longest.slice(0, Math.max(1, units.length - longestGram + 1)))];
  const step = Math.max(1, asked.length / mostAsked);
  return {
    grams: Array.from({ length: Math.min(asked.length, mostAsked) }, (_, at) => asked[Math.floor(at * step)]!),
    isDecided: false,
  };
}

/** The FTS5 query for texts that have all these grams. */
export const matching = (grams: readonly string[]): string => grams.map((gram) => `"${gram}"`).join(' AND ');
