/**
 * Characters that move the cursor, recolour, hide or reorder text: C0, DEL, C1, line and paragraph separators,
 * direction marks. Users choose names and titles, which must not control a terminal or a log.
 */
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The text with each such character written as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
