import { EntitySchema } from 'typeorm';

/** A row of `pull_skipped_checks`. */
export interface SkippedChecksRow {
  issueId: string;
  headOid: string;
  /** Filters depend on the base branch and on the changes to it. */
  baseBranch: string;
  /** Names of checks: `CI / build (pull_request)`. */
  contexts: string[];
  createdAt: number;
}

export const skippedChecksSchema = new EntitySchema<SkippedChecksRow>({
  name: 'pullSkippedChecks',
  tableName: 'pull_skipped_checks',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    headOid: { name: 'head_oid', type: 'text', primary: true },
    baseBranch: { name: 'base_branch', type: 'text', primary: true },
    contexts: { type: 'simple-json' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
