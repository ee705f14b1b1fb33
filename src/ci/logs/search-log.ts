import type { CiDeps } from '../deps.ts';
import { prefixLength, readRow } from './row-buffer.ts';
import type { StoredRow } from './row-buffer.ts';

/** A row that matches a search. */
interface LogHit extends StoredRow {
  /** Row number, from 0. */
  number: number;
}

interface LogMatches {
  /** How many rows contain the text, at most `maxCounted`. */
  count: number;
  /** Whether the search ended there, so that more rows may contain it. */
  isCut: boolean;
  /** The first of them. */
  hits: LogHit[];
}

const lineFeed = 0x0a;

/** A search ends at so many rows: no page lists more, and to count a million of them takes half a second. */
const maxCounted = 10_000;

/**
 * The rows that contain a text, ignoring case: `atMost` are counted, the first `limit` given. An ASCII text is looked
 * for in the bytes: decoding and lower-casing a log of a million rows would take most of a second. Any other text is
 * looked for in blocks that have the bytes of one of its characters.
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

/** Counts all rows, and takes the first ones: numbers and texts of others are never needed. */
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

  /** Counts one more row; whether its text is wanted. */
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

/** Bytes of a row's time, in which a search finds nothing. */
const ofTimes = /^[0-9TZtz:. -]/;
/** Above this share of bytes a character is too frequent to look for it alone. */
const frequent = 1 / 32;
const sampled = 16 * 1024;

/**
 * One byte is one character here, so a text of ASCII is found in UTF-8. What is looked for is its rarest character, by
 * the search for one byte that the machine is fastest at; where that one is frequent after all, the rest of the bytes
 * is searched by a regular expression.
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

/** Where a byte is next; Infinity behind the last one. */
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

/** Each row is found once, and rows are numbered as far as someone needs their numbers. */
class RowCounter {
  /** End of the last row that was found. */
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

  /** A place of the text; returns where the search continues, null where the time of a row has it. */
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

/** Position of the character that is rarest in a sample, in either case. */
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
  // The text may begin before its rarest character.
  pattern.lastIndex = Math.max(rows.searched, from - text.length);
  for (let found = pattern.exec(characters); found !== null && !matches.isCut; found = pattern.exec(characters))
    pattern.lastIndex = rows.found(found.index) ?? found.index + 1;
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

/**
 * For a text with characters beyond ASCII. A block without any case of the first of them is passed over by its bytes.
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

/** The last character with a lower case of its own is below. */
const endOfCases = 0x1e944;

/**
 * A lower-case character, and all whose lower case has it: `å` is that of `Å` and of the sign of the ångström. That of
 * `Σ` depends on what is before it.
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
