import { EntitySchema } from 'typeorm';

/** A row of `pull_queue`: a pull request that its branch merges after testing, once it is first. */
export interface QueueRow {
  issueId: string;
  repositoryId: string;
  baseBranch: string;
  /** The lowest position of a branch is next. */
  position: number;
  /** At most one of a branch is tested at a time. */
  state: 'WAITING' | 'TESTING';
  /** The queued round; a later one leaves the queue. */
  round: number;
  /** UUID of the user who queued it and whose permissions apply; null once the account is deleted. */
  addedBy: string | null;
  /** Style and message, as JSON. */
  merge: string;
  addedAt: number;
  /** For a tested one: the tip of the branch, and the merge onto it, which becomes the tip. */
  ontoOid: string | null;
  candidateOid: string | null;
  testedSince: number | null;
  /** Number of CI runs started by its test. */
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
