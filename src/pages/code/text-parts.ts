/**
 * Limit on the lines of a long file on one page: a browser lays out ten thousand lines in a second, also on a phone.
 */
const maxLines = 10_000;
/** In UTF-16 units. A longer line is a separate part, and is cut for display. */
const maxLength = 1024 * 1024;

/** Offset of the first line feed at or after `from`, or of the last character. */
function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? Math.max(from, text.length - 1) : at;
}

/** The lines of a text on one page. */
export interface TextPart {
  /** Number of this part, from 1, and number of parts. */
  number: number;
  count: number;
  /** Line numbers, from 1. An empty text has no lines: `lastLine` is 0. */
  firstLine: number;
  lastLine: number;
  /** Lines of the whole text; text after the last line feed is a line only when it is not empty. */
  lineCount: number;
  text: string;
}

/**
 * The part that contains a line, or the part with a number; the nearest existing one. One pass over the text: eight
 * mebibytes take some 10 ms.
 */
export function partOfText(text: string, wanted: { line: number } | { number: number }): TextPart {
  // The start of each part: its offset, and the number of lines before it.
  const starts: [offset: number, linesBefore: number][] = [[0, 0]];
  let [start, linesBefore] = starts[0]!;
  let lines = 0;
  let lineStart = 0;
  for (let at = endOfLine(text, 0); at < text.length; at = endOfLine(text, at + 1)) {
    const isFull = lines - linesBefore >= maxLines || at + 1 - start > maxLength;
    if (isFull && lineStart > start) {
      [start, linesBefore] = [lineStart, lines];
      starts.push([start, linesBefore]);
    }
    lines += 1;
    lineStart = at + 1;
  }
  const index =
    'line' in wanted
      ? starts.findLastIndex(([, before]) => before < Math.max(1, wanted.line))
      : Math.min(Math.max(1, wanted.number), starts.length) - 1;
  const [offset, before] = starts[index]!;
  const next = starts[index + 1];
  return {
    number: index + 1,
    count: starts.length,
    firstLine: before + 1,
    lastLine: next?.[1] ?? lines,
    lineCount: lines,
    text: text.slice(offset, next?.[0]),
  };
}

/** `?part=2`; the first part for invalid values. */
export const readPartNumber = (text: string | null): number => (/^\d{1,6}$/.test(text ?? '') ? Number(text) : 1);
