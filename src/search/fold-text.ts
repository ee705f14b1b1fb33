/** Separates the fields of a text, so that no match spans two of them. Fields must not contain it. */
const separator = '\u0001';

/**
 * The normal form in which texts and queries are compared: NFC in lower case (SPEC §4.2).
 *
 * `ÉCOLE`, composed or not, becomes `école`. `ß` stays `ß`, and `ẞ` becomes `ß`; neither becomes `ss`. `İ` becomes an
 * `i` with a dot above it, which `i` matches and `istanbul` does not. The Greek final sigma becomes the other small
 * sigma, or else `ΟΣ` would not match `ΟΣΑ`. `%` and `_` are literal.
 */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
}

/** Several fields as one searchable text; sorted by the first field. */
export function foldFields(...fields: string[]): string {
  return fields.map((field) => fold(field).replaceAll(separator, ' ')).join(separator);
}

/** The normal form of a query; empty if it is blank. */
export function foldQuery(text: string): string {
  const folded = fold(text).replaceAll(separator, '');
  // No text contains an unpaired surrogate, which would be stored as the replacement character.
  return folded.trim() === '' || !folded.isWellFormed() ? '' : folded;
}

/** Length of a token of FTS5's trigram tokenizer: the index cannot serve shorter queries. */
const trigramLength = 3;
/** More trigrams hardly reduce the candidates any further, and each costs a pass over its list. */
const defaultMaxTrigrams = 12;

/**
 * The FTS5 query for texts that contain all trigrams of a folded query; `instr` decides whether they contain the query
 * itself. Null for a query below three characters.
 */
export function trigramQuery(folded: string, maxTrigrams = defaultMaxTrigrams): string | null {
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
