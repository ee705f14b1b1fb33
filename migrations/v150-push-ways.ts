import type { Migration } from '../src/db/index.ts';

const pushColumns =
  'id, repository_id, user_id, via, options, created_at, settled_at, announced_at, attempts, tried_at, last_error, parked_at, credential';

/**
 * A commit, branch or tag that a person makes on a page, over the API or on the command line is journalled as such, no
 * longer as a push over HTTP. SQLite cannot change a CHECK, so `pushes` is rebuilt. Older rows stay as they are.
 */
export const pushWays: Migration = {
  version: 150,
  name: 'Ways of pushes',
  statements: [
    `CREATE TABLE pushes_with_ways (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      user_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      via TEXT NOT NULL CONSTRAINT pushes_via CHECK (via IN ('http', 'ssh', 'undo', 'mirror', 'sync', 'merge', 'web', 'api', 'cli')),
      options TEXT NOT NULL DEFAULT '[]',
      created_at BIGINT NOT NULL,
      settled_at BIGINT,
      announced_at BIGINT,
      attempts BIGINT NOT NULL DEFAULT 0,
      tried_at BIGINT,
      last_error TEXT,
      parked_at BIGINT,
      credential TEXT)`,
    `INSERT INTO pushes_with_ways (${pushColumns}) SELECT ${pushColumns} FROM pushes`,
    'DROP TABLE pushes',
    'ALTER TABLE pushes_with_ways RENAME TO pushes',
    'CREATE INDEX pushes_repository ON pushes (repository_id, created_at, id)',
    'CREATE INDEX pushes_unfinished ON pushes (created_at, id) WHERE announced_at IS NULL',
    'CREATE INDEX pushes_settled ON pushes (created_at) WHERE settled_at IS NOT NULL',
    `CREATE INDEX pushes_person ON pushes (user_id, created_at, repository_id, settled_at)
      WHERE user_id IS NOT NULL AND settled_at IS NOT NULL`,
    'CREATE INDEX pushes_person_repository ON pushes (user_id, repository_id) WHERE user_id IS NOT NULL',
    'CREATE INDEX pushes_parked ON pushes (parked_at) WHERE parked_at IS NOT NULL',
  ],
};
