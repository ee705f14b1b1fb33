import { rowBy } from '../db/index.ts';
import type { RowSource } from '../db/index.ts';
import { notFound } from '../kernel/index.ts';
import { roundSchema } from './schema/round-schema.ts';
import type { RoundRow } from './schema/round-schema.ts';

/** The row of a round of a pull request. Throws `round_not_found`. */
export async function getRoundRow(source: RowSource, issueId: string, round: number): Promise<RoundRow> {
  const row = Number.isSafeInteger(round) && round > 0 ? await rowBy(source, roundSchema, { issueId, round }) : null;
  if (row === null) throw notFound('round_not_found', 'There is no such round.');
  return row;
}
