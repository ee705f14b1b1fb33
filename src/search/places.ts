/**
 * Every text in a list has a number, its place, and numbers grow in the order of the
 * texts. The index of grams walks through places in order, so the first hits come
 * first and a search can stop at the last one it needs, however many there are.
 */

/** Places lie between these two; 2^30 texts fit at the usual distance. */
const edges = { low: 0, high: 2 ** 46 };

/** The usual distance of neighbours: room for sixteen halvings, and still few bytes in the index. */
export const usualDistance = 2 ** 16;

/**
 * Places for `count` texts in a row.
 * @param before the place of the text before them, `null` at the beginning
 * @param after the place of the text after them, `null` at the end
 * @returns `null` when there is not enough room: the neighbours must move apart first
 */
export function placesBetween(before: number | null, after: number | null, count: number): number[] | null {
  if (before === null && after === null) return placesBetween((edges.low + edges.high) / 2, null, count);
  const room = (after ?? edges.high) - (before ?? edges.low);
  const widest = Math.floor(room / (count + 1));
  const distance = before === null || after === null ? Math.min(widest, usualDistance) : widest;
  if (distance < 1) return null;
  const first = before === null ? after! - count * distance : before + distance;
  return Array.from({ length: count }, (_, at) => first + at * distance);
}
