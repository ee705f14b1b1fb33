import { numericId } from '../../../gitea-shapes/index.ts';

/** The row in a path, by the integer of Gitea's clients or by its UUID. */
export function rowNamed<Row extends { id: string }>(rows: readonly Row[], id: string): Row | undefined {
  const number = /^\d{1,16}$/.test(id) ? Number(id) : null;
  return rows.find((row) => row.id === id || numericId(row.id) === number);
}
