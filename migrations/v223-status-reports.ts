import type { Migration } from '../src/db/index.ts';

/**
 * Every word that a check outside of this server said of a commit; `commit_statuses` has the last one of each context.
 * A warning is no failure, and is told as one of its own.
 */
export const statusReports: Migration = {
  version: 223,
  name: 'Status reports',
  statements: [
    'ALTER TABLE commit_statuses ADD COLUMN is_warning INTEGER NOT NULL DEFAULT 0',
    `CREATE TABLE status_reports (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      sha TEXT NOT NULL,
      context TEXT NOT NULL,
      state TEXT NOT NULL,
      description TEXT NOT NULL DEFAULT '',
      target_url TEXT,
      creator_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at BIGINT NOT NULL
    )`,
    'CREATE INDEX status_reports_commit ON status_reports (repository_id, sha, id)',
    'CREATE INDEX status_reports_creator ON status_reports (creator_id)',
  ],
};
