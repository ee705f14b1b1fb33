import type { Migration } from '../src/db/index.ts';

/**
 * Changes of repositories: redirects from old paths, pending transfers, pins, and the protection of the default branch.
 */
export const repositoryLife: Migration = {
  version: 15,
  name: 'RepositoryLife',
  statements: [
    `ALTER TABLE repositories ADD COLUMN default_branch_protected INTEGER NOT NULL DEFAULT 1`,

    `CREATE TABLE repository_redirects (
      owner_id TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (owner_id, name_folded)
    )`,
    `CREATE INDEX repository_redirects_repository ON repository_redirects (repository_id)`,

    `CREATE TABLE repository_transfers (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      new_owner_id TEXT NOT NULL,
      new_owner_kind TEXT NOT NULL
        CONSTRAINT repository_transfers_kind CHECK (new_owner_kind IN ('user', 'organisation')),
      offered_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at INTEGER NOT NULL
    )`,
    `CREATE INDEX repository_transfers_new_owner ON repository_transfers (new_owner_id)`,

    `CREATE TABLE repository_moves (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      to_owner_id TEXT NOT NULL
    )`,

    `CREATE TABLE pins (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      PRIMARY KEY (user_id, repository_id)
    )`,
    `CREATE INDEX pins_repository ON pins (repository_id)`,
  ],
};
