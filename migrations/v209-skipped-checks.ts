import type { Migration } from '../src/db/index.ts';

/** The checks of a head that the filters of their workflows left out, with their names as a JSON list. */
export const skippedChecks: Migration = {
  version: 209,
  name: 'Checks that filters leave out',
  statements: [
    `CREATE TABLE pull_skipped_checks (
      issue_id TEXT NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
      head_oid TEXT NOT NULL,
      base_branch TEXT NOT NULL,
      contexts TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (issue_id, head_oid, base_branch)
    )`,
  ],
};
