import { EntitySchema } from 'typeorm';

/** A row of `pull_queue`: a pull request that its branch merges once its turn has come and it has passed. */
export interface QueueRow {
  issueId: string;
  repositoryId: string;
  baseBranch: string;
  /** The lowest of a branch is next. */
  position: number;
  /** One of a branch at a time is tested. */
  state: 'WAITING' | 'TESTING';
  /** The round that was added; a later one is out. */
  round: number;
  /** UUID of who added it, whose rights count; null once the account is gone. */
  addedBy: string | null;
  /** Style and message, as JSON. */
  merge: string;
  addedAt: number;
  /** Of a tested one: the tip of the branch, and the merge onto it, which becomes the tip. */
  ontoOid: string | null;
  candidateOid: string | null;
  testedSince: number | null;
  /** Runs of the CI that its test has started. */
  runCount: number;
}

export const queueSchema = new EntitySchema<QueueRow>({
  name: 'pullQueue',
  tableName: 'pull_queue',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    baseBranch: { name: 'base_branch', type: 'text' },
    position: { type: 'integer' },
    state: { type: 'text' },
    round: { type: 'integer' },
    addedBy: { name: 'added_by', type: 'text', nullable: true },
    merge: { type: 'text' },
    addedAt: { name: 'added_at', type: 'integer' },
    ontoOid: { name: 'onto_oid', type: 'text', nullable: true },
    candidateOid: { name: 'candidate_oid', type: 'text', nullable: true },
    testedSince: { name: 'tested_since', type: 'integer', nullable: true },
    runCount: { name: 'run_count', type: 'integer' },
  },
});
