/**
 * Makes text safe for a git client's terminal: one line without control characters, so that foreign text can neither
 * move the cursor nor change colours.
 */
export function sanitiseLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ')
    .trim();
}

/**
 * Masks control characters in git's own progress and error text in place, byte for byte, so that packet lengths stay
 * valid. Tab, line feed and carriage return stay: progress lines need them.
 */
export function maskControls(text: Buffer): void {
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at]!;
    const c0 = byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d;
    // U+0080 to U+009F are C2 80 to C2 9F in UTF-8.
    const c1 = byte === 0xc2 && at + 1 < text.length && text[at + 1]! >= 0x80 && text[at + 1]! <= 0x9f;
    if (c0 || byte === 0x7f) text[at] = 0x3f;
    if (c1) text.fill(0x3f, at, at + 2);
  }
}
