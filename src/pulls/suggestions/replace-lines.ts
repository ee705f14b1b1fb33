/** Lines of a file, from 1, both included, and what stands in their place. */
export interface LineReplacement {
  firstLine: number;
  lastLine: number;
  lines: readonly string[];
}

/**
 * A file with some of its lines replaced; every other byte stays. New lines end as the first of the old ones does, and
 * a file without a line feed at its end keeps none. Null when two replacements are about the same line, or one about
 * lines that are not there.
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
