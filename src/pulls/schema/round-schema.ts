import { EntitySchema } from 'typeorm';

/**
 * What the author has changed since the round before: commits added on top of it; nothing, on another base; something
 * else; or it cannot be said, because the rounds conflict.
 */
export type RoundChange = 'first' | 'added' | 'rebased' | 'edited' | 'unknown';

/** A row of `pull_rounds`, never changed. */
export interface RoundRow {
  issueId: string;
  /** From 1. */
  round: number;
  headOid: string;
  /** The merge base of the head and the base branch when the round came. */
  baseOid: string;
  /** Commits from the base to the head; `pull_commits` has the newest of them. */
  commitCount: number;
  change: RoundChange;
  /** Of the push option `note`. */
  note: string;
  pushId: string | null;
  submitterId: string | null;
  /** Of an imported one whose submitter is no account here. */
  submitterName: string | null;
  /** What it takes in the repository, for a submitter who may not write to that; else 0. */
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

/** A commit that a pull request kept which was deleted for good. */
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

/** A commit of a round; position 1 is the oldest that is listed. */
export interface RoundCommitRow {
  issueId: string;
  round: number;
  position: number;
  oid: string;
  /** Of the trailer `Change-Id` or of the header `change-id`. */
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
