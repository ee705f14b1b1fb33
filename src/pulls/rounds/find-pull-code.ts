import type { PullDeps } from '../deps.ts';
import { pullById } from '../find-pull.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { roundSchema } from '../schema/round-schema.ts';
import type { RoundRow } from '../schema/round-schema.ts';

/** The current code of a pull request. */
export interface PullCode {
  pull: PullRow;
  /** The last round. */
  round: RoundRow;
  /** The head of the previous round; null for the first. */
  previousHead: string | null;
}

/** Finds the code by the id of the issue, for internal use; null if it was deleted or is in the trash. */
export async function findPullCode(deps: Pick<PullDeps, 'db'>, issueId: string): Promise<PullCode | null> {
  const found = await pullById(deps, issueId);
  if (found === null) return null;
  const { lastRound } = found.pull;
  const round = await deps.db.read.findOneBy(roundSchema, { issueId, round: lastRound });
  const before = await deps.db.read.findOneBy(roundSchema, { issueId, round: lastRound - 1 });
  return round === null ? null : { pull: found.pull, round, previousHead: before?.headOid ?? null };
}
