import type { CiDeps } from '../deps.ts';
import { prefixLength, readRow } from './row-buffer.ts';
import type { StoredRow } from './row-buffer.ts';

/** A row that matches a search. */
export interface LogHit extends StoredRow {
  /** Row number, from 0. */
  number: number;
}

export interface LogMatches {
  /** How many rows contain the text. */
  count: number;
  /** The first of them. */
  hits: LogHit[];
}

const lineFeed = 0x0a;

/**
 * The rows that contain a text, ignoring case: all counted, the first `limit` given. An ASCII text is looked for in the
 * bytes: decoding and lower-casing a log of a million rows would take most of a second.
 */
export async function searchLog(
  { logs }: Pick<CiDeps, 'logs'>,
  taskId: number,
  text: string,
  limit: number,
): Promise<LogMatches> {
  const matches: LogMatches = { count: 0, hits: [] };
  if (text === '') return matches;
  const search = /^[\x20-\x7e]+$/.test(text) ? searchBytes : searchText;
  for await (const { firstRow, bytes } of (await logs.log(taskId)).blocks())
    search(bytes, firstRow, text, (number, line) => {
      matches.count += 1;
      if (matches.hits.length < limit) matches.hits.push({ ...readRow(line()), number });
    });
  return matches;
}

type Add = (number: number, line: () => string) => void;

/** One byte is one character here, so a pattern of ASCII finds its offsets in UTF-8. */
function searchBytes(bytes: Buffer, firstRow: number, text: string, add: Add): void {
  const pattern = anyCase(text);
  const characters = bytes.toString('latin1');
  let row = firstRow;
  let start = 0;
  for (let found = pattern.exec(characters); found !== null; found = pattern.exec(characters)) {
    for (let feed = bytes.indexOf(lineFeed, start); feed < found.index; feed = bytes.indexOf(lineFeed, start)) {
      start = feed + 1;
      row += 1;
    }
    // The time before the content is no content.
    if (found.index - start < prefixLength) {
      pattern.lastIndex = Math.max(found.index + 1, start + prefixLength);
      continue;
    }
    const [from, end] = [start, bytes.indexOf(lineFeed, found.index)];
    add(row, () => bytes.toString('utf8', from, end));
    pattern.lastIndex = end;
  }
}

/** Classes instead of the flag `i`: letters beyond ASCII have cases here that UTF-8 does not mean. */
function anyCase(text: string): RegExp {
  const pattern = text.replace(/[^]/g, (character) =>
    /[a-z]/i.test(character)
      ? `[${character.toLowerCase()}${character.toUpperCase()}]`
      : character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&'),
  );
  return new RegExp(pattern, 'g');
}

function searchText(bytes: Buffer, firstRow: number, text: string, add: Add): void {
  const wanted = text.toLowerCase();
  const decoded = bytes.toString('utf8');
  if (!decoded.toLowerCase().includes(wanted)) return;
  decoded
    .slice(0, -1)
    .split('\n')
    .forEach((line, at) => {
      if (line.slice(prefixLength).toLowerCase().includes(wanted)) add(firstRow + at, () => line);
    });
}
