import { invalid } from '../kernel/index.ts';

/** One page of a list in the order of a key that no two rows share. At most one of `after` and `before` is given. */
export interface KeysetPaging {
  limit: number;
  /** The key of the last row of the page before. */
  after?: string | null;
  /** The key of the first row of the page behind. */
  before?: string | null;
}

export interface KeysetPage<Row> {
  rows: Row[];
  /** To give back as `after`, and as `before`; null where the list ends. */
  next: string | null;
  previous: string | null;
}

const maxPerPage = 100;

/**
 * Reads a page of a list, forwards or backwards. Rows that come and go between two pages neither shift nor repeat others.
 * @param read answers the rows beyond `key` (from the beginning when it is null), against the order of the list when
 * `isBackwards`, at most `limit`
 */
export async function readKeysetPage<Row>(
  { limit: wanted, after = null, before = null }: KeysetPaging,
  keyOf: (row: Row) => string,
  read: (range: { key: string | null; isBackwards: boolean; limit: number }) => Promise<Row[]>,
): Promise<KeysetPage<Row>> {
  const limit = Math.min(Math.max(1, Math.trunc(wanted)), maxPerPage);
  const isBackwards = before !== null;
  const found = await read({ key: before ?? after, isBackwards, limit: limit + 1 });
  const isMore = found.length > limit;
  const rows = found.slice(0, limit);
  if (isBackwards) rows.reverse();
  const [first, last] = [rows.at(0), rows.at(-1)];
  return {
    rows,
    next: last !== undefined && (isBackwards || isMore) ? keyOf(last) : null,
    previous: first !== undefined && (isBackwards ? isMore : after !== null) ? keyOf(first) : null,
  };
}

/** Behind every character that a name may have. */
const lastOfAll = '\u{10ffff}';

/**
 * The texts that begin with a prefix, as a range: from the first, up to but not including the second. An index serves
 * it where `LIKE` has none.
 */
export const prefixRange = (prefix: string): [from: string, upTo: string] => [prefix, prefix + lastOfAll];

/** The key of a row in a list by age: its time, and its id among those of the same moment. */
export const ageKey = ({ createdAt, id }: { createdAt: number; id: string }): string => `${createdAt}.${id}`;

/** Reads what `ageKey` wrote. Refuses `invalid_page`. */
export function readAgeKey(key: string): { at: number; id: string } {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(key) ?? [];
  if (at === undefined || id === undefined)
    throw invalid('invalid_page', 'This page address is not one that was given out.');
  return { at: Number(at), id };
}
