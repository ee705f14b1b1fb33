import type { Migration } from '../src/db/index.ts';

/** Repositories of people, their collaborators, and the push journal. */
export const repositories: Migration = {
  version: 3,
  name: 'Repositories',
  statements: [
    `CREATE TABLE repositories (
      id TEXT PRIMARY KEY NOT NULL,
      owner_user_id TEXT NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      description TEXT NOT NULL DEFAULT '',
      visibility TEXT NOT NULL
        CONSTRAINT repositories_visibility CHECK (visibility IN ('PUBLIC', 'PRIVATE')),
      default_branch TEXT NOT NULL DEFAULT 'main',
      size_bytes INTEGER NOT NULL DEFAULT 0,
      archived_at INTEGER,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      pushed_at INTEGER,
      deleted_at INTEGER,
      deleted_by TEXT
    )`,
    `CREATE UNIQUE INDEX repositories_user_name ON repositories (owner_user_id, name_folded) WHERE deleted_at IS NULL`,
    `CREATE INDEX repositories_recent ON repositories (updated_at, id) WHERE deleted_at IS NULL`,

    `CREATE TABLE collaborators (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      role TEXT NOT NULL CONSTRAINT collaborators_role CHECK (role IN ('read', 'write', 'admin')),
      created_at INTEGER NOT NULL,
      PRIMARY KEY (repository_id, user_id)
    )`,
    `CREATE INDEX collaborators_user ON collaborators (user_id)`,

    `CREATE TABLE access_token_repositories (
      token_id TEXT NOT NULL REFERENCES access_tokens (id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      PRIMARY KEY (token_id, repository_id)
    )`,
    `CREATE INDEX access_token_repositories_repository ON access_token_repositories (repository_id)`,

    `CREATE TABLE pushes (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      user_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      via TEXT NOT NULL CONSTRAINT pushes_via CHECK (via IN ('http', 'ssh')),
      options TEXT NOT NULL DEFAULT '[]',
      created_at INTEGER NOT NULL,
      settled_at INTEGER,
      announced_at INTEGER
    )`,
    `CREATE INDEX pushes_repository ON pushes (repository_id, created_at)`,
    `CREATE INDEX pushes_unfinished ON pushes (created_at) WHERE announced_at IS NULL`,

    `CREATE TABLE push_updates (
      push_id TEXT NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      ref TEXT NOT NULL,
      old_id TEXT NOT NULL,
      new_id TEXT NOT NULL,
      result TEXT CONSTRAINT push_updates_result CHECK (result IN ('ok', 'rejected')),
      reason TEXT,
      PRIMARY KEY (push_id, position)
    )`,

    `CREATE TABLE push_announcements (
      push_id TEXT NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
      listener TEXT NOT NULL,
      PRIMARY KEY (push_id, listener)
    )`,
  ],
};
