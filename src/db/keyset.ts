import { invalid } from '../kernel/index.ts';

/** One page of a list sorted by a unique key. At most one of `after` and `before` is given. */
export interface KeysetPaging {
  limit: number;
  /** The key of the last row of the previous page. */
  after?: string | null;
  /** The key of the first row of the next page. */
  before?: string | null;
  /** Rows that are passed over behind `after`, for clients that count pages. An index is walked over them. */
  skip?: number;
}

export interface KeysetPage<Row> {
  rows: Row[];
  /** Keys to pass as `after` and `before`; null where the list ends. */
  next: string | null;
  previous: string | null;
}

/** What a list reads for one page. */
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
 * @param read passes over `skip` rows beyond `key` (from the beginning when it is null) and returns at most `limit`, in
 * reverse order when `isBackwards`; a list whose callers give no `skip` may leave it out
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

/** Sorts after every character that a name may have. */
const lastOfAll = '\u{10ffff}';

/** The texts with a prefix as a half-open range. An index serves it, unlike `LIKE`. */
export const prefixRange = (prefix: string): [from: string, upTo: string] => [prefix, prefix + lastOfAll];

/** The key of a row in a list by age: its time, then its id. */
export const ageKey = ({ createdAt, id }: { createdAt: number; id: string }): string => `${createdAt}.${id}`;

/** Parses the result of `ageKey`. Refuses `invalid_page`. */
export function readAgeKey(key: string): { at: number; id: string } {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(key) ?? [];
  if (at === undefined || id === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { at: Number(at), id };
}
