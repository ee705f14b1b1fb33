import type { Migration } from '../src/db/index.ts';

/**
 * What came of an owner beside its repositories: `import_group_lines` is the report, `import_group_marks` what was
 * written once and is not written again, so that changes made here stay. `is_made` tells the accounts that the import
 * made, `is_brought` whether everything of an owner was read in this round.
 */
export const importGroupLines: Migration = {
  version: 413,
  name: 'Reports of imports of several repositories',
  statements: [
    'ALTER TABLE import_group_owners ADD COLUMN is_made INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE import_group_owners ADD COLUMN is_brought INTEGER NOT NULL DEFAULT 0',
    `CREATE TABLE import_group_lines (
      group_id TEXT NOT NULL REFERENCES import_groups (id) ON DELETE CASCADE,
      login TEXT NOT NULL,
      problem TEXT NOT NULL,
      PRIMARY KEY (group_id, login, problem)
    )`,
    `CREATE TABLE import_group_marks (
      group_id TEXT NOT NULL REFERENCES import_groups (id) ON DELETE CASCADE,
      item TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      PRIMARY KEY (group_id, item)
    )`,
  ],
};
