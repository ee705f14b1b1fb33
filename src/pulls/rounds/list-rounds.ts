import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { roundCommitSchema, roundSchema } from '../schema/round-schema.ts';
import type { RoundCommitRow, RoundRow } from '../schema/round-schema.ts';

/** The rounds of a pull request, oldest first. Throws the errors of `findPull`. */
export async function listRounds(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<RoundRow[]> {
  const { issue } = await findPull(deps, viewer, at);
  return deps.db.read.find(roundSchema, { where: { issueId: issue.id }, order: { round: 'ASC' } });
}

/** One round; the last one without a number. Throws `round_not_found` and the errors of `findPull`. */
export async function findRound(deps: PullDeps, viewer: Viewer, at: IssueAt, round?: number): Promise<RoundRow> {
  const { issue, pull } = await findPull(deps, viewer, at);
  const found = await deps.db.read.findOneBy(roundSchema, { issueId: issue.id, round: round ?? pull.lastRound });
  if (found === null) throw notFound('round_not_found', 'There is no such round.');
  return found;
}

/** The listed commits of a round, oldest first. Throws the errors of `findRound`. */
export async function listRoundCommits(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  round?: number,
): Promise<RoundCommitRow[]> {
  const found = await findRound(deps, viewer, at, round);
  const { issueId } = found;
  return deps.db.read.find(roundCommitSchema, {
    where: { issueId, round: found.round },
    order: { position: 'ASC' },
  });
}
