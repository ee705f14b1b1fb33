import type { EntityManager } from 'typeorm';
import type { BranchRule, MergeFacts } from '../../access/index.ts';
import type { Issue } from '../../issues/index.ts';
import type { CommitStatus, Repository } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import type { ComputedMergeState } from '../mergeability/compute-merge-state.ts';
import { policyGroups } from '../code-owners/owner-groups.ts';
import { ownersOfFiles } from '../code-owners/owners-of-files.ts';
import type { OwnersOfPull } from '../code-owners/owners-of-files.ts';
import { reviewFacts } from '../reviews/review-facts.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { roundSchema } from '../schema/round-schema.ts';
import { withSkippedChecks } from './skipped-checks.ts';
import { unmergedNeeds } from '../stacks/needed-pulls.ts';
import { countOpenThreads } from '../threads/count-open.ts';

/**
 * Facts that decide about a merge, gathered before the write; `verdictFacts` replaces those that change quickly by the
 * data of the write.
 */
export interface GatheredFacts {
  facts: MergeFacts;
  rule: BranchRule | null;
  /** Statuses of the head. */
  statuses: CommitStatus[];
}

/** Facts computed by git, which the write cannot read again; valid for their round and tip. */
interface GitFacts {
  state: ComputedMergeState;
  /** Whether the head contains the tip of the base branch. */
  isUpToDate: boolean;
  owners: OwnersOfPull;
}

/** Computes these facts. Throws `git_busy`. */
export async function gitFacts(
  deps: PullDeps,
  path: string,
  repository: Repository,
  pull: PullRow,
  state: ComputedMergeState,
): Promise<GitFacts> {
  const { mergeStateOnto: tip } = state;
  const [isUpToDate, owners] = await Promise.all([
    tip === null ? false : deps.git.refs.isForward(path, tip, pull.headOid),
    ownersOfFiles(deps, path, repository, pull),
  ]);
  return { state, isUpToDate, owners };
}

/**
 * Gathers all facts that decide about a merge.
 * @param source the read connection, or the reader of the write that merges
 */
export async function gatherFacts(
  deps: PullDeps,
  source: EntityManager,
  { issue, pull, repository }: { issue: Issue; pull: PullRow; repository: Repository },
  { state, isUpToDate, owners }: GitFacts,
): Promise<GatheredFacts> {
  const [rule, rounds, reviews, openThreads, reported, needs] = await Promise.all([
    deps.repositories.rules.deciding(source, repository, pull.baseBranch),
    source.find(roundSchema, { where: { issueId: issue.id }, order: { round: 'ASC' } }),
    reviewFacts(deps, source, issue.id, repository),
    countOpenThreads(source, issue.id),
    deps.repositories.statuses.ofCommit(source, repository.id, pull.headOid),
    unmergedNeeds(source, issue),
  ]);
  const statuses = await withSkippedChecks(source, pull, reported);
  return {
    rule,
    statuses,
    facts: {
      state: issue.state,
      isDraft: pull.isDraft,
      authorId: issue.authorId,
      mergeState: state.mergeState,
      baseExists: state.mergeStateOnto !== null,
      isUpToDate,
      needs,
      rounds: rounds.map(({ round, change, submitterId }) => ({ round, change, submitterId })),
      reviews,
      owners: policyGroups(owners),
      openThreads,
      checks: new Map(statuses.map((status) => [status.context, status.state])),
    },
  };
}
