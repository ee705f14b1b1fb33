/**
 * Order keys sort like the documents of a list and are the rowids of the index. The index is scanned in rowid order, so
 * the first hits come first and a search stops after the last one that it needs (fractional indexing on integers).
 */

/** Limits of keys; 2^30 documents fit at the default distance. */
const range = { low: 0, high: 2 ** 46 };

/** The default distance of neighbours: it allows sixteen halvings and takes few bytes in the index. */
export const defaultDistance = 2 ** 16;

/**
 * Keys for `count` consecutive documents.
 * @param before the key of the preceding document, `null` at the beginning
 * @param after the key of the following document, `null` at the end
 * @returns `null` if the gap is too small: the neighbours must be respaced first
 */
export function orderKeysBetween(before: number | null, after: number | null, count: number): number[] | null {
  if (before === null && after === null) return orderKeysBetween((range.low + range.high) / 2, null, count);
  const gap = (after ?? range.high) - (before ?? range.low);
  const widest = Math.floor(gap / (count + 1));
  const distance = before === null || after === null ? Math.min(widest, defaultDistance) : widest;
  if (distance < 1) return null;
  const first = before === null ? after! - count * distance : before + distance;
  return Array.from({ length: count }, (_, at) => first + at * distance);
}
