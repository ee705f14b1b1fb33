import type { Migration } from '../src/db/index.ts';

const pushColumns =
  'id, repository_id, user_id, via, options, created_at, settled_at, announced_at, attempts, tried_at, last_error, parked_at, credential';

/** Whether a row counts among the forks that everybody may see; for `NEW` and `OLD`. */
const counts = (row: 'NEW' | 'OLD'): string =>
  `CASE WHEN ${row}.deleted_at IS NULL AND ${row}.visibility = 'PUBLIC' THEN 1 ELSE 0 END`;
const add = `UPDATE repositories SET fork_count = fork_count + ${counts('NEW')} WHERE id = NEW.forked_from_id;`;
const remove = `UPDATE repositories SET fork_count = fork_count - ${counts('OLD')} WHERE id = OLD.forked_from_id;`;

/**
 * What a repository was forked from, how many public forks it has, and how much of its size its forks or its source
 * have as well. A fork is made in a folder before its row is written; `unfinished_forks` tells a start which folders
 * an interruption has left. A push may come from a source (`sync`) or from a merge; SQLite cannot change a CHECK, so
 * `pushes` is rebuilt.
 */
export const forks: Migration = {
  version: 102,
  name: 'Forks',
  statements: [
    'ALTER TABLE repositories ADD COLUMN forked_from_id TEXT REFERENCES repositories (id) ON DELETE SET NULL',
    'ALTER TABLE repositories ADD COLUMN fork_count BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE repositories ADD COLUMN shared_bytes BIGINT NOT NULL DEFAULT 0',
    `CREATE INDEX repositories_forks ON repositories (forked_from_id, visibility, created_at, id)
      WHERE forked_from_id IS NOT NULL`,
    // PostgreSQL's trigger functions can have these as they are.
    `CREATE TRIGGER fork_counts_added AFTER INSERT ON repositories BEGIN ${add} END`,
    `CREATE TRIGGER fork_counts_removed AFTER DELETE ON repositories BEGIN ${remove} END`,
    `CREATE TRIGGER fork_counts_changed AFTER UPDATE OF forked_from_id, visibility, deleted_at ON repositories
      BEGIN ${remove} ${add} END`,
    `CREATE TABLE unfinished_forks (
      repository_id TEXT PRIMARY KEY NOT NULL,
      owner_id TEXT NOT NULL,
      storage_id TEXT NOT NULL,
      created_at BIGINT NOT NULL)`,

    `CREATE TABLE pushes_with_syncs (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      user_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      via TEXT NOT NULL CONSTRAINT pushes_via CHECK (via IN ('http', 'ssh', 'undo', 'mirror', 'sync', 'merge')),
      options TEXT NOT NULL DEFAULT '[]',
      created_at BIGINT NOT NULL,
      settled_at BIGINT,
      announced_at BIGINT,
      attempts BIGINT NOT NULL DEFAULT 0,
      tried_at BIGINT,
      last_error TEXT,
      parked_at BIGINT,
      credential TEXT)`,
    `INSERT INTO pushes_with_syncs (${pushColumns}) SELECT ${pushColumns} FROM pushes`,
    'DROP TABLE pushes',
    'ALTER TABLE pushes_with_syncs RENAME TO pushes',
    'CREATE INDEX pushes_repository ON pushes (repository_id, created_at, id)',
    'CREATE INDEX pushes_unfinished ON pushes (created_at, id) WHERE announced_at IS NULL',
    'CREATE INDEX pushes_settled ON pushes (created_at) WHERE settled_at IS NOT NULL',
    `CREATE INDEX pushes_person ON pushes (user_id, created_at, repository_id, settled_at)
      WHERE user_id IS NOT NULL AND settled_at IS NOT NULL`,
    'CREATE INDEX pushes_person_repository ON pushes (user_id, repository_id) WHERE user_id IS NOT NULL',
    'CREATE INDEX pushes_parked ON pushes (parked_at) WHERE parked_at IS NOT NULL',
  ],
};
