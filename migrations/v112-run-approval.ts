import type { Migration } from '../src/db/index.ts';

/**
 * Runs of pull requests by people who may not write: `approval` is null where none is needed. A run that was cancelled
 * while it waited stays `waiting`, so that it is never run again without one.
 */
export const runApproval: Migration = {
  version: 112,
  name: 'Run approval',
  statements: [
    `ALTER TABLE ci_runs ADD COLUMN approval TEXT
      CONSTRAINT ci_runs_approval CHECK (approval IN ('waiting', 'approved'))`,
    `ALTER TABLE ci_runs ADD COLUMN approved_by TEXT REFERENCES users (id) ON DELETE SET NULL`,
    `ALTER TABLE ci_runs ADD COLUMN approved_at BIGINT`,
    `CREATE INDEX ci_runs_approvals ON ci_runs (repository_id, ref, approval, number) WHERE approval IS NOT NULL`,
    `ALTER TABLE issue_settings ADD COLUMN ci_approval TEXT NOT NULL DEFAULT 'everyone'
      CONSTRAINT issue_settings_ci_approval CHECK (ci_approval IN ('everyone', 'first_time'))`,
  ],
};
