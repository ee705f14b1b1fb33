import type { Migration } from '../src/db/index.ts';

const pushColumns = 'id, repository_id, user_id, via, options, created_at, settled_at, announced_at';

/**
 * Overwritten and deleted tips are kept for a while and can be restored: which updates were forced, and until when
 * their old tip stays. The server itself updates refs now (an undo, a mirror), so `via` has more values; SQLite cannot
 * change a CHECK, so `pushes` is rebuilt.
 */
export const undo: Migration = {
  version: 50,
  name: 'Undo',
  statements: [
    `CREATE TABLE pushes_of_all_kinds (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      user_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      via TEXT NOT NULL CONSTRAINT pushes_via CHECK (via IN ('http', 'ssh', 'undo', 'mirror')),
      options TEXT NOT NULL DEFAULT '[]',
      created_at INTEGER NOT NULL,
      settled_at INTEGER,
      announced_at INTEGER
    )`,
    `INSERT INTO pushes_of_all_kinds (${pushColumns}) SELECT ${pushColumns} FROM pushes`,
    `DROP TABLE pushes`,
    `ALTER TABLE pushes_of_all_kinds RENAME TO pushes`,
    `CREATE INDEX pushes_repository ON pushes (repository_id, created_at)`,
    `CREATE INDEX pushes_unfinished ON pushes (created_at) WHERE announced_at IS NULL`,

    `ALTER TABLE push_updates ADD COLUMN forced INTEGER`,
    `ALTER TABLE push_updates ADD COLUMN kept_until INTEGER`,
    `CREATE INDEX push_updates_kept ON push_updates (kept_until) WHERE kept_until IS NOT NULL`,
  ],
};
