import type { Migration } from '../src/db/index.ts';

/** Repositories of other servers that are kept here as pull mirrors for as long as a person follows them. */
export const keptCopies: Migration = {
  version: 370,
  name: 'Kept copies of followed repositories',
  statements: [
    // The actor that a copy comes from; null for everything that is no copy.
    'ALTER TABLE repositories ADD COLUMN copied_from TEXT',

    `CREATE TABLE kept_copies (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      user_id TEXT NOT NULL,
      actor_id TEXT NOT NULL,
      handle TEXT NOT NULL,
      url TEXT,
      created_at BIGINT NOT NULL,
      ends_at BIGINT
    )`,
    'CREATE UNIQUE INDEX kept_copies_user ON kept_copies (user_id, actor_id)',
    'CREATE INDEX kept_copies_created ON kept_copies (created_at, repository_id)',
    'CREATE INDEX kept_copies_ending ON kept_copies (ends_at) WHERE ends_at IS NOT NULL',

    'ALTER TABLE mirrors ADD COLUMN is_copy BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE mirrors ADD COLUMN failing_since BIGINT',
    'ALTER TABLE mirrors ADD COLUMN complete_to TEXT',
    'CREATE INDEX mirrors_running_copies ON mirrors (locked_until) WHERE is_copy = 1',

    'ALTER TABLE remote_actors ADD COLUMN clone_url TEXT',
  ],
};
