import { conflict, invalid, notFound } from '../../kernel/index.ts';

/**
 * The one row with this id, a prefix of it (at least four characters, as tables show it), or another unique word.
 * Throws `ambiguous_id`, and `reason` if there is none.
 */
export function findById<Row extends { id: string }>(
  rows: readonly Row[],
  text: string,
  { what, reason, alsoBy }: { what: string; reason: string; alsoBy?: (row: Row) => string },
): Row {
  if (text === '') throw invalid('usage', `Several ${what}s match. Specify an id.`);
  const exact = rows.find((row) => row.id === text || alsoBy?.(row) === text);
  if (exact !== undefined) return exact;
  const near = text.length < 4 ? [] : rows.filter((row) => row.id.startsWith(text));
  if (near.length > 1) throw conflict('ambiguous_id', `${near.length} ${what}s have an id that starts with ${text}.`);
  if (near[0] === undefined) throw notFound(reason, `The ${what} ${text} does not exist.`);
  return near[0];
}
