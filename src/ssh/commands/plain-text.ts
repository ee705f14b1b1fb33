/*
 * C0 and C1 controls, and characters that reorder or hide text. Terminals interpret them, so names and messages of
 * other users could control the reader's screen (security C06).
 */
const unwanted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text that is safe on a terminal: printable, plus tab and newline. */
export function plainText(text: string): string {
  return text.replace(unwanted, '?');
}

/** The same in one line of at most 400 characters. */
export function plainLine(text: string): string {
  const line = plainText(text.replace(/[\r\n\t]+/g, ' ')).trim();
  return line.length > 400 ? `${line.slice(0, 399)}…` : line;
}
