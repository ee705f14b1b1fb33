import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { roundCommitSchema, roundSchema } from '../schema/round-schema.ts';
import type { RoundCommitRow, RoundRow } from '../schema/round-schema.ts';

/** The rounds of a pull request, oldest first. Refuses what `findPull` refuses. */
export async function listRounds(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<RoundRow[]> {
  const { issue } = await findPull(deps, viewer, at);
  return deps.db.read.find(roundSchema, { where: { issueId: issue.id }, order: { round: 'ASC' }, take: limits.rounds });
}

/** The commits of a round that are listed, oldest first; none for a round that is missing. */
export async function listRoundCommits(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  round: number,
): Promise<RoundCommitRow[]> {
  const { issue } = await findPull(deps, viewer, at);
  return deps.db.read.find(roundCommitSchema, {
    where: { issueId: issue.id, round },
    order: { position: 'ASC' },
    take: limits.listedCommits,
  });
}

/** Two rounds by their numbers. Refuses `round_not_found`, and what `listRounds` refuses. */
export async function findRounds(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  numbers: { from: number; to: number },
): Promise<{ from: RoundRow; to: RoundRow }> {
  const rounds = await listRounds(deps, viewer, at);
  const find = (number: number): RoundRow => {
    const row = rounds.find(({ round }) => round === number);
    if (row === undefined) throw notFound('round_not_found', `There is no round ${number}.`);
    return row;
  };
  return { from: find(numbers.from), to: find(numbers.to) };
}
