/** Characters of a token of FTS5's trigram tokenizer: a shorter query cannot be asked of the index. */
const trigramLength = 3;
/** More trigrams than these hardly narrow a search any further, and each costs a pass over its list. */
const maxTrigrams = 12;

/**
 * The FTS5 query for texts that may contain a folded query: they have all of its trigrams.
 * Whether they contain it, `instr` decides. Null for a query below three characters.
 */
export function trigramQuery(folded: string): string | null {
  const characters = [...folded];
  const count = characters.length - trigramLength + 1;
  if (count < 1) return null;
  const step = Math.max(1, count / maxTrigrams);
  const trigrams = new Set<string>();
  for (let at = 0; at < count; at += step) {
    const start = Math.floor(at);
    trigrams.add(characters.slice(start, start + trigramLength).join(''));
  }
  trigrams.add(characters.slice(-trigramLength).join(''));
  return [...trigrams].map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ');
}
