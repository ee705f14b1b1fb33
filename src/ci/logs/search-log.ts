import type { CiDeps } from '../deps.ts';
import { prefixLength, readRow } from '../log-storage/row-buffer.ts';
import type { StoredRow } from '../log-storage/row-buffer.ts';

/** A row that matches a search. */
interface LogHit extends StoredRow {
  /** Row number, from 0. */
  number: number;
}

interface LogMatches {
  /** Number of rows that contain the text, at most `maxCounted`. */
  count: number;
  /** Whether the search stopped at that limit; more rows may contain the text. */
  isCut: boolean;
  /** The first matching rows. */
  hits: LogHit[];
}

const lineFeed = 0x0a;

/** Limit of counted rows: no page lists more, and counting a million takes half a second. */
const maxCounted = 10_000;

/**
 * Finds the rows that contain a text, ignoring case: counts up to `atMost` and returns the first `limit`. An ASCII text
 * is searched in the bytes, because decoding and lower-casing a log of a million rows takes most of a second. Any other
 * text is searched only in blocks that contain the bytes of one of its characters.
 */
export async function searchLog(
  { logs }: Pick<CiDeps, 'logs'>,
  taskId: number,
  text: string,
  limit: number,
  atMost = maxCounted,
): Promise<LogMatches> {
  const matches = new Matches(limit, atMost);
  if (text === '') return matches;
  const search = /^[\x20-\x7e]+$/.test(text) ? searchBytes : searchText(text);
  for await (const { firstRow, bytes } of (await logs.log(taskId)).blocks()) {
    search(bytes, firstRow, text, matches);
    if (matches.isCut) break;
  }
  return matches;
}

/** Counts all matching rows but stores only the first ones. */
class Matches implements LogMatches {
  count = 0;
  isCut = false;
  readonly hits: LogHit[] = [];
  readonly #limit: number;
  readonly #atMost: number;

  constructor(limit: number, atMost: number) {
    this.#limit = limit;
    this.#atMost = atMost;
  }

  /** Counts one more row. Returns whether its text is needed. */
  countRow(): boolean {
    this.isCut = this.count >= this.#atMost;
    if (this.isCut) return false;
    this.count += 1;
    return this.hits.length < this.#limit;
  }

  take(number: number, line: string): void {
    this.hits.push({ ...readRow(line), number });
  }
}

/** Characters of timestamps, which a search ignores. */
const ofTimes = /^[0-9TZtz:. -]/;
/** Share of bytes above which a character is too frequent to be searched alone. */
const frequent = 1 / 32;
const sampled = 16 * 1024;

/**
 * Searches bytes as single characters, which finds ASCII text in UTF-8. Looks for the rarest character of the text,
 * because the search for one byte is the fastest; if that character proves frequent, a regular expression searches the
 * remaining bytes.
 */
function searchBytes(bytes: Buffer, firstRow: number, text: string, matches: Matches): void {
  const wanted = Buffer.from(text.toLowerCase(), 'latin1');
  const rare = rarestOf(bytes.subarray(0, sampled), wanted);
  const rows = new RowCounter(bytes, firstRow, ofTimes.test(text), matches);
  let allowed = bytes.length * frequent;
  const low = new ByteFinder(bytes, wanted[rare]!);
  const high = isLetter(wanted[rare]!) ? new ByteFinder(bytes, upper(wanted[rare]!)) : low;
  for (let at = 0; ; ) {
    const found = Math.min(low.from(at), high.from(at));
    if (found === Infinity) return;
    allowed -= 1;
    if (allowed < 0) return searchByPattern(bytes, at, text, rows, matches);
    at = found + 1;
    const begin = found - rare;
    if (begin >= rows.searched && isAt(bytes, begin, wanted)) at = rows.found(begin) ?? at;
    if (matches.isCut) return;
  }
}

/** Finds the next position of a byte; Infinity after the last one. */
class ByteFinder {
  readonly #bytes: Buffer;
  readonly #byte: number;
  #next = -1;

  constructor(bytes: Buffer, byte: number) {
    this.#bytes = bytes;
    this.#byte = byte;
  }

  from(at: number): number {
    if (this.#next < at) {
      const next = this.#bytes.indexOf(this.#byte, at);
      this.#next = next === -1 ? Infinity : next;
    }
    return this.#next;
  }
}

/** Counts each matching row once, and numbers rows only as far as needed. */
class RowCounter {
  /** End of the last matching row. */
  searched = 0;
  readonly #bytes: Buffer;
  readonly #mayBeTime: boolean;
  readonly #matches: Matches;
  #row: number;
  #counted = 0;

  constructor(bytes: Buffer, firstRow: number, mayBeTime: boolean, matches: Matches) {
    this.#bytes = bytes;
    this.#row = firstRow;
    this.#mayBeTime = mayBeTime;
    this.#matches = matches;
  }

  /** Handles a match. Returns where to continue; null if the match is within the timestamp of a row. */
  found(index: number): number | null {
    if (this.#mayBeTime && index - this.#startOf(index) < prefixLength) return null;
    const feed = this.#bytes.indexOf(lineFeed, index);
    const end = feed === -1 ? this.#bytes.length : feed;
    if (this.#matches.countRow())
      this.#matches.take(this.#numberOf(index), this.#bytes.toString('utf8', this.#startOf(index), end));
    this.searched = end;
    return end;
  }

  #startOf(index: number): number {
    return this.#bytes.lastIndexOf(lineFeed, index) + 1;
  }

  #numberOf(index: number): number {
    for (let feed = this.#bytes.indexOf(lineFeed, this.#counted); feed !== -1 && feed < index; ) {
      this.#row += 1;
      this.#counted = feed + 1;
      feed = this.#bytes.indexOf(lineFeed, this.#counted);
    }
    return this.#row;
  }
}

const isLetter = (byte: number): boolean => byte >= 0x61 && byte <= 0x7a;
const upper = (byte: number): number => (isLetter(byte) ? byte - 0x20 : byte);

function isAt(bytes: Buffer, begin: number, wanted: Buffer): boolean {
  if (begin + wanted.length > bytes.length) return false;
  for (let at = 0; at < wanted.length; at += 1) {
    const byte = bytes[begin + at]!;
    if (byte !== wanted[at] && byte !== upper(wanted[at]!)) return false;
  }
  return true;
}

/** Position of the character of the text that is rarest in a sample, ignoring case. */
function rarestOf(sample: Buffer, wanted: Buffer): number {
  const counts = new Uint32Array(256);
  for (const byte of sample) counts[byte]! += 1;
  const countOf = (byte: number): number => counts[byte]! + (isLetter(byte) ? counts[upper(byte)]! : 0);
  let rare = 0;
  for (let at = 1; at < wanted.length; at += 1) if (countOf(wanted[at]!) < countOf(wanted[rare]!)) rare = at;
  return rare;
}

function searchByPattern(bytes: Buffer, from: number, text: string, rows: RowCounter, matches: Matches): void {
  const pattern = anyCase(text);
  const characters = bytes.toString('latin1');
  // The text may start before its rarest character.
  pattern.lastIndex = Math.max(rows.searched, from - text.length);
  for (let found = pattern.exec(characters); found !== null && !matches.isCut; found = pattern.exec(characters))
    pattern.lastIndex = rows.found(found.index) ?? found.index + 1;
}

/** Character classes instead of the flag `i`, which would also fold bytes of non-ASCII characters. */
function anyCase(text: string): RegExp {
  const pattern = text.replace(/[^]/g, (character) =>
    /[a-z]/i.test(character)
      ? `[${character.toLowerCase()}${character.toUpperCase()}]`
      : character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&'),
  );
  return new RegExp(pattern, 'g');
}

/**
 * Searches a text with non-ASCII characters. Skips blocks without the bytes of its first such character in any case.
 */
function searchText(text: string): typeof searchBytes {
  const wanted = text.toLowerCase();
  const character = [...wanted].find((one) => one > '\x7f');
  const cases = character === undefined ? [''] : casesOf(character);
  const marks = cases.map((one) => Buffer.from(one));
  return (bytes, firstRow, _text, matches) => {
    if (!marks.some((one) => bytes.includes(one))) return;
    const decoded = bytes.toString('utf8');
    if (!decoded.toLowerCase().includes(wanted)) return;
    decoded
      .slice(0, -1)
      .split('\n')
      .forEach((line, at) => {
        if (matches.isCut || !line.slice(prefixLength).toLowerCase().includes(wanted)) return;
        if (matches.countRow()) matches.take(firstRow + at, line);
      });
  };
}

/** Upper limit of the characters that have a lower case of their own. */
const endOfCases = 0x1e944;

/**
 * A lower-case character and all characters with this lower case: `å` is that of `Å` and of the ångström sign. The
 * lower case of `Σ` depends on the character before it.
 */
function casesOf(character: string): string[] {
  const found = [character];
  for (let code = 0x80; code < endOfCases; code += 1) {
    if (code === 0xd800) code = 0xe000;
    const one = String.fromCodePoint(code);
    if (one !== character && `${one} a${one}`.toLowerCase().includes(character)) found.push(one);
  }
  return found;
}
