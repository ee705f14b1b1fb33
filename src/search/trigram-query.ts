/** Length of a token of FTS5's trigram tokenizer: the index cannot serve shorter queries. */
const trigramLength = 3;
/** More trigrams than these hardly reduce the candidates any further, and each costs a pass over its list. */
const maxTrigrams = 12;

/**
 * The FTS5 query for texts that contain all trigrams of a folded query; `instr` decides whether they contain the query
 * itself. Null for a query below three characters.
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
