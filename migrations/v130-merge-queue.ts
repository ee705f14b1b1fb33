import type { Migration } from '../src/db/index.ts';

/**
 * The merge queue of a branch: pull requests in the order in which they are merged, of which one at a time is tested as
 * `candidate_oid`, the commit that becomes the tip.
 */
export const mergeQueue: Migration = {
  version: 130,
  name: 'Merge queue',
  statements: [
    `CREATE TABLE pull_queue (
      issue_id TEXT PRIMARY KEY NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      base_branch TEXT NOT NULL,
      position BIGINT NOT NULL,
      state TEXT NOT NULL DEFAULT 'WAITING' CONSTRAINT pull_queue_state CHECK (state IN ('WAITING', 'TESTING')),
      round BIGINT NOT NULL,
      added_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      merge TEXT NOT NULL,
      added_at BIGINT NOT NULL,
      onto_oid TEXT,
      candidate_oid TEXT,
      tested_since BIGINT,
      run_count BIGINT NOT NULL DEFAULT 0
    )`,
    'CREATE UNIQUE INDEX pull_queue_places ON pull_queue (repository_id, base_branch, position)',
    `CREATE UNIQUE INDEX pull_queue_tested ON pull_queue (repository_id, base_branch) WHERE state = 'TESTING'`,
    'CREATE INDEX pull_queue_candidate ON pull_queue (candidate_oid) WHERE candidate_oid IS NOT NULL',
    'CREATE INDEX pull_queue_added_by ON pull_queue (added_by) WHERE added_by IS NOT NULL',
  ],
};
