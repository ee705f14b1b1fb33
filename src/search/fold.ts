/** Stands between the fields of a text, so that nothing is found across two of them. No field may contain it. */
const separator = '\u0001';

/**
 * The form in which texts and queries are compared: without regard to case, with
 * combining marks joined to their letters (SPEC §4.2, DESIGN §9).
 *
 * `ÉCOLE`, composed or not, becomes `école`. `ß` stays itself and is what `ẞ` becomes;
 * it is not `ss`. `İ` becomes an `i` with a dot above it, which `i` finds and `istanbul`
 * does not. Greek has a second small sigma for the end of words; it becomes the first,
 * or else `ΟΣ` would not find `ΟΣΑ`. `%` and `_` mean themselves.
 */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
}

/** Several fields as one text to search in; in its order, the first field comes first. */
export function foldFields(...fields: string[]): string {
  return fields.map((field) => fold(field).replaceAll(separator, ' ')).join(separator);
}

/** What to look for; empty when there is nothing to look for. */
export function foldQuery(text: string): string {
  const folded = fold(text).replaceAll(separator, '');
  // Half a character is in no text, but would be stored as the sign for what cannot be shown.
  return folded.trim() === '' || !folded.isWellFormed() ? '' : folded;
}
