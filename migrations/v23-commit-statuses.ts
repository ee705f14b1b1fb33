import type { Migration } from '../src/db/index.ts';

/** Commit statuses, of our own CI and of others that report through the API. */
export const commitStatuses: Migration = {
  version: 23,
  name: 'CommitStatuses',
  statements: [
    `CREATE TABLE commit_statuses (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      sha TEXT NOT NULL,
      context TEXT NOT NULL,
      state TEXT NOT NULL
        CONSTRAINT commit_statuses_state CHECK (state IN ('pending', 'success', 'failure', 'error')),
      description TEXT NOT NULL DEFAULT '',
      target_url TEXT,
      creator_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      PRIMARY KEY (repository_id, sha, context)
    )`,
  ],
};
