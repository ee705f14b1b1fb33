import type { Migration } from '../src/db/index.ts';

/**
 * When an issue is due, the branch it is about, and the time that is spent on it. `tracked_times` has one row for each
 * addition, in seconds, with the repository of the issue, so that a page of its times is one range of an index;
 * `stopwatches` has the watches that run.
 */
export const timeOfIssues: Migration = {
  version: 222,
  name: 'Time of issues',
  statements: [
    'ALTER TABLE issues ADD COLUMN due_on TEXT',
    "ALTER TABLE issues ADD COLUMN ref TEXT NOT NULL DEFAULT ''",
    `CREATE TABLE tracked_times (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      user_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      seconds BIGINT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    'CREATE INDEX tracked_times_issue ON tracked_times (issue_id, id)',
    'CREATE INDEX tracked_times_repository ON tracked_times (repository_id, id)',
    'CREATE INDEX tracked_times_user ON tracked_times (user_id, id)',
    `CREATE TABLE stopwatches (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, issue_id)
    )`,
    'CREATE INDEX stopwatches_issue ON stopwatches (issue_id)',
  ],
};
