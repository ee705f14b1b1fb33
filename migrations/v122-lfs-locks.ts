import type { Migration } from '../src/db/index.ts';

/** Locks of Git LFS: one person says that they work on a file that cannot be merged. */
export const lfsLocks: Migration = {
  version: 122,
  name: 'LFS locks',
  statements: [
    `CREATE TABLE lfs_locks (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      path TEXT NOT NULL,
      ref TEXT,
      owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      locked_at BIGINT NOT NULL,
      CONSTRAINT lfs_locks_path UNIQUE (repository_id, path)
    )`,
    `CREATE INDEX lfs_locks_owner ON lfs_locks (owner_id)`,
  ],
};
