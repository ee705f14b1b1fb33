const special = /[&<>"]/g;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as HTML. */
export const escapeHtml = (text: string): string => text.replace(special, (character) => entities[character]!);

/** Characters that change text direction: they can make code read differently from what it does. */
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const control = /[\x00-\x08\x0b-\x1f\x7f]/g;

/**
 * Makes characters visible that a reader must not miss (security C07). Direction-changing characters are shown in a box
 * with their number, which isolates them; control characters are shown as their pictures, because HTML cannot contain
 * them.
 * @param html escaped text, perhaps with spans
 */
export function showInvisibleCharacters(html: string): string {
  return html
    .replace(control, (character) =>
      character === '\x7f' ? '\u2421' : String.fromCharCode(0x2400 + character.charCodeAt(0)),
    )
    .replace(
      bidiControls,
      (character) => `<span class="odd" title="${codePoint(character)}">${codePoint(character)}</span>`,
    );
}

export const hasBidiControls = (text: string): boolean => text.search(bidiControls) !== -1;

const codePoint = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Longer lines are cut: browsers cannot lay out a line of a megabyte. */
const maxLineLength = 5_000;

/** One line of a file or patch as HTML. */
export function lineHtml(text: string): string {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text;
  const isLong = line.length > maxLineLength;
  return (
    showInvisibleCharacters(escapeHtml(isLong ? line.slice(0, maxLineLength) : line)) +
    (isLong ? '<span class="odd">line goes on</span>' : '')
  );
}
