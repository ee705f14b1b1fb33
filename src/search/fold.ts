/** Separates the fields of a text, so that no match spans two of them. No field may contain it. */
const separator = '\u0001';

/**
 * The normal form in which texts and queries are compared: NFC in lower case (SPEC §4.2).
 *
 * `ÉCOLE`, composed or not, becomes `école`. `ß` stays itself and is what `ẞ` becomes; it is not `ss`. `İ` becomes an
 * `i` with a dot above it, which `i` matches and `istanbul` does not. The Greek final sigma becomes the other small
 * sigma, or else `ΟΣ` would not match `ΟΣΑ`. `%` and `_` are literal.
 */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
}

/** Several fields as one text to search in; sorted by the first field. */
export function foldFields(...fields: string[]): string {
  return fields.map((field) => fold(field).replaceAll(separator, ' ')).join(separator);
}

/** The normal form of a query; empty when it is blank. */
export function foldQuery(text: string): string {
  const folded = fold(text).replaceAll(separator, '');
  // An unpaired surrogate is in no text, but would be stored as the replacement character.
  return folded.trim() === '' || !folded.isWellFormed() ? '' : folded;
}
