import { EntitySchema } from 'typeorm';
import type { MergeStyle } from '../../git/index.ts';

/** Source of the commits: a branch of the repository, one of a fork, or pushes to `refs/for/<branch>`. */
type PullSource = 'BRANCH' | 'FORK' | 'PUSH' | 'PATCH' | 'REMOTE';

/** Whether the head merges into the base branch: `EMPTY` has no changes, `UNRELATED` has no common history. */
export type MergeState = 'UNKNOWN' | 'CLEAN' | 'CONFLICT' | 'EMPTY' | 'UNRELATED';

/** Merge state before it is computed. */
export const unknownState = {
  mergeState: 'UNKNOWN',
  mergeStateOnto: null,
  mergeStateReason: null,
  conflicts: '[]',
} as const;

/** A row of `pulls`: the code of a pull request, whose conversation is an issue. Ids of commits are full. */
export interface PullRow {
  issueId: string;
  repositoryId: string;
  /** Set by a trigger: open and not in the trash. */
  isOpen: boolean;
  isDraft: boolean;
  /** Without `refs/heads/`. */
  baseBranch: string;
  source: PullSource;
  /** The repository of the head branch; null for a push, and once it is deleted. */
  headRepositoryId: string | null;
  headBranch: string | null;
  /** Topic of a push to `refs/for/<branch>/<topic>`. */
  topic: string | null;
  submitterId: string | null;
  /** Name of the submitter of an imported pull request who has no account here. */
  submitterName: string | null;
  lastRound: number;
  /** Head of the last round. */
  headOid: string;
  baseOid: string;
  /**
   * The commit of a required pull request on which this one is based: its own commits follow it. For the last round;
   * null without one.
   */
  stackedOnOid: string | null;
  /** Whether users with write access to the repository may push to the branch of the fork. */
  maintainersMayPush: boolean;
  mergeState: MergeState;
  /** The tip of the base branch for which the state was computed; null if it was not. */
  mergeStateOnto: string | null;
  /** Why the state is unknown. */
  mergeStateReason: string | null;
  /** Conflicting paths as a JSON array. */
  conflicts: string;
  /** How it was merged. */
  mergeStyle: MergeStyle | null;
  mergeWhenReadyBy: string | null;
  mergeWhenReadyRound: number | null;
  /** The scheduled merge as JSON: style and message. */
  mergeWhenReady: string | null;
  mergedBy: string | null;
  /** As `submitterName`, for the user who merged it. */
  mergedByName: string | null;
  /** The tip of the base branch after and before the merge. */
  mergedOid: string | null;
  mergedOntoOid: string | null;
  mergePushId: string | null;
  mergedAt: number | null;
}

export const pullSchema = new EntitySchema<PullRow>({
  name: 'pull',
  tableName: 'pulls',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    isOpen: { name: 'is_open', type: 'boolean' },
    isDraft: { name: 'is_draft', type: 'boolean' },
    baseBranch: { name: 'base_branch', type: 'text' },
    source: { type: 'text' },
    headRepositoryId: { name: 'head_repository_id', type: 'text', nullable: true },
    headBranch: { name: 'head_branch', type: 'text', nullable: true },
    topic: { type: 'text', nullable: true },
    submitterId: { name: 'submitter_id', type: 'text', nullable: true },
    submitterName: { name: 'submitter_name', type: 'text', nullable: true },
    lastRound: { name: 'last_round', type: 'integer' },
    headOid: { name: 'head_oid', type: 'text' },
    baseOid: { name: 'base_oid', type: 'text' },
    stackedOnOid: { name: 'stacked_on_oid', type: 'text', nullable: true },
    maintainersMayPush: { name: 'maintainers_may_push', type: 'boolean' },
    mergeState: { name: 'merge_state', type: 'text' },
    mergeStateOnto: { name: 'merge_state_onto', type: 'text', nullable: true },
    mergeStateReason: { name: 'merge_state_reason', type: 'text', nullable: true },
    conflicts: { type: 'text' },
    mergeStyle: { name: 'merge_style', type: 'text', nullable: true },
    mergeWhenReadyBy: { name: 'merge_when_ready_by', type: 'text', nullable: true },
    mergeWhenReadyRound: { name: 'merge_when_ready_round', type: 'integer', nullable: true },
    mergeWhenReady: { name: 'merge_when_ready', type: 'text', nullable: true },
    mergedBy: { name: 'merged_by', type: 'text', nullable: true },
    mergedByName: { name: 'merged_by_name', type: 'text', nullable: true },
    mergedOid: { name: 'merged_oid', type: 'text', nullable: true },
    mergedOntoOid: { name: 'merged_onto_oid', type: 'text', nullable: true },
    mergePushId: { name: 'merge_push_id', type: 'text', nullable: true },
    mergedAt: { name: 'merged_at', type: 'integer', nullable: true },
  },
});

/** A push to `refs/for/<branch>` with a pull request that it adds to or opens: one, or one per commit of a stack. */
export interface PullPushRow {
  pushId: string;
  repositoryId: string;
  number: number;
  baseBranch: string;
  topic: string | null;
  userId: string;
  createdAt: number;
  /** Position in its stack, from 0 for the lowest; 0 without a stack. */
  position: number;
  /** The commit of the stack that becomes its head; null for the pushed commit. */
  oid: string | null;
  /** The commit of the stack below it; null for the lowest. */
  belowOid: string | null;
}

export const pullPushSchema = new EntitySchema<PullPushRow>({
  name: 'pullPush',
  tableName: 'pull_pushes',
  columns: {
    pushId: { name: 'push_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    number: { type: 'integer', primary: true },
    baseBranch: { name: 'base_branch', type: 'text' },
    topic: { type: 'text', nullable: true },
    userId: { name: 'user_id', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    position: { type: 'integer' },
    oid: { type: 'text', nullable: true },
    belowOid: { name: 'below_oid', type: 'text', nullable: true },
  },
});
