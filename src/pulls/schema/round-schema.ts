import { EntitySchema } from 'typeorm';

/**
 * Kind of change since the previous round: `added` commits on top; `rebased` without changes; `edited` otherwise;
 * `unknown` if the rounds conflict.
 */
export type RoundChange = 'first' | 'added' | 'rebased' | 'edited' | 'unknown';

/** A row of `pull_rounds`, never changed. */
export interface RoundRow {
  issueId: string;
  /** From 1. */
  round: number;
  headOid: string;
  /** The merge base of the head and the base branch when the round was added. */
  baseOid: string;
  /** Number of commits from the base to the head; `pull_commits` has the newest of them. */
  commitCount: number;
  change: RoundChange;
  /** Value of the push option `note`. */
  note: string;
  pushId: string | null;
  submitterId: string | null;
  /** Name of the submitter of an imported round who has no account here. */
  submitterName: string | null;
  /** Size in bytes in the repository for a submitter without write access; else 0. */
  bytes: number;
  createdAt: number;
}

export const roundSchema = new EntitySchema<RoundRow>({
  name: 'pullRound',
  tableName: 'pull_rounds',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    round: { type: 'integer', primary: true },
    headOid: { name: 'head_oid', type: 'text' },
    baseOid: { name: 'base_oid', type: 'text' },
    commitCount: { name: 'commit_count', type: 'integer' },
    change: { type: 'text' },
    note: { type: 'text' },
    pushId: { name: 'push_id', type: 'text', nullable: true },
    submitterId: { name: 'submitter_id', type: 'text', nullable: true },
    submitterName: { name: 'submitter_name', type: 'text', nullable: true },
    bytes: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** A commit kept by a pull request that was permanently deleted. */
export interface RemovedRoundRow {
  repositoryId: string;
  number: number;
  oid: string;
}

export const removedRoundSchema = new EntitySchema<RemovedRoundRow>({
  name: 'removedRound',
  tableName: 'removed_rounds',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    number: { type: 'integer', primary: true },
    oid: { type: 'text', primary: true },
  },
});

/** A commit of a round; position 1 is the oldest listed one. */
export interface RoundCommitRow {
  issueId: string;
  round: number;
  position: number;
  oid: string;
  /** From the trailer `Change-Id` or the header `change-id`. */
  changeId: string | null;
  subject: string;
}

export const roundCommitSchema = new EntitySchema<RoundCommitRow>({
  name: 'pullCommit',
  tableName: 'pull_commits',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    round: { type: 'integer', primary: true },
    position: { type: 'integer', primary: true },
    oid: { type: 'text' },
    changeId: { name: 'change_id', type: 'text', nullable: true },
    subject: { type: 'text' },
  },
});
