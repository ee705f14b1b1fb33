/** Lines of a file, from 1 and inclusive, and their replacement. */
export interface LineReplacement {
  firstLine: number;
  lastLine: number;
  lines: readonly string[];
}

/**
 * Replaces some lines of a file; every other byte stays. New lines get the line end of the first old one, and a file
 * without a final line feed still has none. Null if two replacements overlap or one refers to missing lines.
 */
export function replaceLines(content: Buffer, replacements: readonly LineReplacement[]): Buffer | null {
  const starts = [0];
  for (let at = content.indexOf(0x0a); at !== -1 && at + 1 < content.length; at = content.indexOf(0x0a, at + 1))
    starts.push(at + 1);
  const count = content.length === 0 ? 0 : starts.length;
  const ordered = replacements.toSorted((one, other) => one.firstLine - other.firstLine);
  const pieces: Buffer[] = [];
  let from = 0;
  let lastLine = 0;
  for (const replacement of ordered) {
    if (replacement.firstLine <= lastLine || replacement.lastLine > count) return null;
    lastLine = replacement.lastLine;
    const start = starts[replacement.firstLine - 1]!;
    const end = starts[replacement.lastLine] ?? content.length;
    const old = content.subarray(start, end);
    const lineFeed = old.indexOf(0x0a);
    const isCrlf = lineFeed > 0 && old[lineFeed - 1] === 0x0d;
    const isEnded = old.at(-1) === 0x0a;
    const ending = isCrlf ? '\r\n' : '\n';
    const text = replacement.lines.join(ending) + (isEnded && replacement.lines.length > 0 ? ending : '');
    pieces.push(content.subarray(from, start), Buffer.from(text));
    from = end;
  }
  pieces.push(content.subarray(from));
  return Buffer.concat(pieces);
}
