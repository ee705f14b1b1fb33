/** What a page shows of a long file: a browser lays out ten thousand lines in a second, also on a phone. */
const maxLines = 10_000;
/** In UTF-16 units. A longer line is a part of its own, and cut when it is shown. */
const maxLength = 1024 * 1024;

/** The line feed at or behind an offset, or the last character. */
function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? Math.max(from, text.length - 1) : at;
}

/** Some lines of a text that one page shows. */
export interface TextPart {
  /** Which part it is, from 1, and of how many. */
  number: number;
  count: number;
  /** Numbers of its lines, from 1. An empty text has none: `lastLine` is 0. */
  firstLine: number;
  lastLine: number;
  /** Of the whole text; what follows the last line feed is a line only when it is not empty. */
  lineCount: number;
  text: string;
}

/**
 * The part of a text with a line, or the one with a number; the nearest there is. One pass over the text: eight
 * mebibytes take some 10 ms.
 */
export function partOfText(text: string, wanted: { line: number } | { number: number }): TextPart {
  // Where each part begins: its offset, and the lines before it.
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

/** `?part=2`; the first one for anything else. */
export const readPartNumber = (text: string | null): number => (/^\d{1,6}$/.test(text ?? '') ? Number(text) : 1);
