import type { Viewer } from '../../access/index.ts';
import { maxPairedCommits } from '../../git/index.ts';
import type { Interdiff, InterdiffRequest, CommitRange, PairedCommit } from '../../git/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull, pathOf } from '../find-pull.ts';
import type { RoundCommitRow, RoundRow } from '../schema/round-schema.ts';
import { findRound, listRoundCommits } from './list-rounds.ts';

/** Two rounds, by their numbers. */
interface TwoRounds {
  from: number;
  to: number;
}

async function findBoth(deps: PullDeps, viewer: Viewer, at: IssueAt, { from, to }: TwoRounds) {
  const [older, newer] = await Promise.all([findRound(deps, viewer, at, from), findRound(deps, viewer, at, to)]);
  return { from: older, to: newer };
}

/** `failed`: git failed or exceeded its limits. */
type ComparedRounds = Interdiff | { kind: 'failed' };

const rangeOf = ({ baseOid, headOid }: RoundRow): CommitRange => ({ base: baseOid, head: headOid });

/**
 * Compares two rounds: carries the older one onto the base of the other and diffs it with its head, so that changes of
 * a rebase are not shown. Throws `round_not_found`, `git_busy`.
 */
export async function compareRounds(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  rounds: TwoRounds,
  reading: Omit<InterdiffRequest, 'before' | 'after'>,
): Promise<ComparedRounds> {
  const { repository } = await findPull(deps, viewer, at);
  const { from, to } = await findBoth(deps, viewer, at, rounds);
  const request = { ...reading, before: rangeOf(from), after: rangeOf(to) };
  return failedAsNull(deps, from, deps.git.merges.carriedDiff(pathOf(deps, repository), request)).then(
    (diff) => diff ?? { kind: 'failed' },
  );
}

/** A commit of one round with its counterpart in the other round. */
export interface PairedRoundCommit {
  kind: PairedCommit['kind'];
  /** Null for a commit that exists only in the other round. */
  before: RoundCommitRow | null;
  after: RoundCommitRow | null;
}

/**
 * Pairs the commits of two rounds, in the order of the later one: by change id, the others as git pairs them
 * (git-range-diff(1)), merge commits by their own id. Null if there are too many or git failed. Throws
 * `round_not_found`, `git_busy`.
 */
export async function pairRoundCommits(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  rounds: TwoRounds,
): Promise<PairedRoundCommit[] | null> {
  const { repository } = await findPull(deps, viewer, at);
  const { from, to } = await findBoth(deps, viewer, at, rounds);
  if (from.commitCount > maxPairedCommits || to.commitCount > maxPairedCommits) return null;
  const [before, after] = await Promise.all([
    listRoundCommits(deps, viewer, at, from.round),
    listRoundCommits(deps, viewer, at, to.round),
  ]);
  const pairing = deps.git.merges.pairCommits(pathOf(deps, repository), rangeOf(from), rangeOf(to));
  const pairs = await failedAsNull(deps, from, pairing);
  return pairs && joinPairs(before, after, pairs);
}

async function failedAsNull<Result>(
  { logger }: Pick<PullDeps, 'logger'>,
  { issueId, round }: RoundRow,
  work: Promise<Result>,
): Promise<Result | null> {
  return work.catch((error: unknown) => {
    if (!isDomainError(error) || error.code !== 'internal') throw error;
    logger.warn('pull.rounds_not_compared', { issueId, round, error });
    return null;
  });
}

/** Change ids take precedence: git pairs by content, which an author may have changed completely. */
function joinPairs(
  before: readonly RoundCommitRow[],
  after: readonly RoundCommitRow[],
  pairs: readonly PairedCommit[],
): PairedRoundCommit[] {
  const kinds = new Map(pairs.map((pair) => [`${pair.before} ${pair.after}`, pair.kind]));
  const gitsChoice = new Map(pairs.flatMap((pair) => (pair.after === null ? [] : [[pair.after, pair.before]])));
  const left = new Map(before.map((commit) => [commit.oid, commit]));
  const take = (commit: RoundCommitRow | undefined): RoundCommitRow | undefined => {
    if (commit !== undefined) left.delete(commit.oid);
    return commit;
  };
  const partners = new Map<string, RoundCommitRow>();
  const pairBy = (find: (commit: RoundCommitRow) => RoundCommitRow | undefined): void => {
    for (const commit of after) {
      const partner = partners.has(commit.oid) ? undefined : take(find(commit));
      if (partner !== undefined) partners.set(commit.oid, partner);
    }
  };
  pairBy(({ oid }) => left.get(oid));
  pairBy(({ changeId }) =>
    changeId === null ? undefined : [...left.values()].find((commit) => commit.changeId === changeId),
  );
  pairBy(({ oid }) => left.get(gitsChoice.get(oid) ?? ''));
  const now = after.map((commit): PairedRoundCommit => {
    const partner = partners.get(commit.oid) ?? null;
    if (partner === null) return { kind: 'added', before: null, after: commit };
    const kind = partner.oid === commit.oid ? 'equal' : (kinds.get(`${partner.oid} ${commit.oid}`) ?? 'changed');
    return { kind, before: partner, after: commit };
  });
  const gone = [...left.values()].map(
    (commit): PairedRoundCommit => ({ kind: 'removed', before: commit, after: null }),
  );
  return [...now, ...gone];
}
