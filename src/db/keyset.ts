import { invalid } from '../kernel/index.ts';

/** One page of a list sorted by a unique key. At most one of `after` and `before` is given. */
export interface KeysetPaging {
  limit: number;
  /** The key of the last row of the previous page. */
  after?: string | null;
  /** The key of the first row of the next page. */
  before?: string | null;
  /** Number of rows to skip after `after`, for clients that count pages. Walks the index over them. */
  skip?: number;
}

export interface KeysetPage<Row> {
  rows: Row[];
  /** Keys to pass as `after` and `before`; null at the ends of the list. */
  next: string | null;
  previous: string | null;
}

/** Parameters with which a list reads one page. */
export interface KeysetRange {
  key: string | null;
  isBackwards: boolean;
  limit: number;
  skip: number;
}

const maxPerPage = 100;

/**
 * Reads a page of a list, forwards or backwards. Rows inserted or deleted between two pages neither shift nor repeat
 * others.
 * @param read skips `skip` rows after `key` (from the beginning if null) and returns at most `limit`, in reverse order
 *   if `isBackwards`; lists whose callers never skip may ignore `skip`
 */
export async function readKeysetPage<Row>(
  { limit: wanted, after = null, before = null, skip = 0 }: KeysetPaging,
  keyOf: (row: Row) => string,
  read: (range: KeysetRange) => Promise<Row[]>,
): Promise<KeysetPage<Row>> {
  const limit = Math.min(Math.max(1, Math.trunc(wanted)), maxPerPage);
  const isBackwards = before !== null;
  const found = await read({ key: before ?? after, isBackwards, limit: limit + 1, skip });
  const isMore = found.length > limit;
  const rows = found.slice(0, limit);
  if (isBackwards) rows.reverse();
  const [first, last] = [rows.at(0), rows.at(-1)];
  return {
    rows,
    next: last !== undefined && (isBackwards || isMore) ? keyOf(last) : null,
    previous: first !== undefined && (isBackwards ? isMore : after !== null || skip > 0) ? keyOf(first) : null,
  };
}

/** Sorts after every character allowed in names. */
const lastOfAll = '\u{10ffff}';

/** The texts with a prefix, as a half-open range. An index serves it, unlike `LIKE`. */
export const prefixRange = (prefix: string): [from: string, upTo: string] => [prefix, prefix + lastOfAll];

/** The key of a row in a list sorted by age: its time, then its id. */
export const ageKey = ({ createdAt, id }: { createdAt: number; id: string }): string => `${createdAt}.${id}`;

/** Parses the result of `ageKey`. Throws `invalid_page`. */
export function readAgeKey(key: string): { at: number; id: string } {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(key) ?? [];
  if (at === undefined || id === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { at: Number(at), id };
}
