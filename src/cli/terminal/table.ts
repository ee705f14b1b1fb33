/** Formats text in columns. */

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Created by the first text that is not plain ASCII: it would take some milliseconds of every start. */
let segmenter: Intl.Segmenter | undefined;
const graphemesOf = (text: string) =>
  (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })).segment(text);

/** Width of a text in terminal cells: CJK and emoji take two. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** At most `width` cells; truncated text ends with `…`. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let shortened = '';
  for (const { segment } of graphemesOf(text)) {
    if (displayWidth(shortened) + displayWidth(segment) > width - 1) break;
    shortened += segment;
  }
  return `${shortened}…`;
}

export interface ColumnLayout {
  readonly align?: 'right' | undefined;
  /** Never truncated: a name that is copied must be complete. */
  readonly whole?: boolean | undefined;
}

/**
 * Aligned lines, header first. If they are wider than `maxWidth`, the widest columns are shortened, so that short
 * values stay complete.
 */
export function layOut(
  rows: readonly (readonly string[])[],
  columns: readonly ColumnLayout[],
  maxWidth: number,
): string[] {
  const header = rows[0] ?? [];
  const widths = header.map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column]!))));
  const gap = 2;
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - maxWidth;
  while (excess > 0) {
    // A column is never narrower than its header.
    const spare = widths.map((width, column) =>
      columns[column]?.whole || width <= displayWidth(header[column]!) ? 0 : width,
    );
    const widest = spare.indexOf(Math.max(...spare));
    if (spare[widest] === 0) break;
    widths[widest]! -= 1;
    excess -= 1;
  }
  return rows.map((row) =>
    row
      .map((text, column) => {
        const shown = cut(text, widths[column]!);
        const padding = ' '.repeat(widths[column]! - displayWidth(shown));
        return columns[column]?.align === 'right' ? padding + shown : shown + padding;
      })
      .join(' '.repeat(gap))
      .trimEnd(),
  );
}
