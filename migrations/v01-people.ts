import type { Migration } from '../src/db/index.ts';

/**
 * People and their credentials. `handles` is the namespace that people and organisations share: its primary key decides
 * concurrent claims (SPEC §4.4).
 */
export const people: Migration = {
  version: 1,
  name: 'People',
  statements: [
    `CREATE TABLE handles (
      folded TEXT PRIMARY KEY NOT NULL,
      display TEXT NOT NULL,
      kind TEXT NOT NULL CONSTRAINT handles_kind CHECK (kind IN ('user', 'organisation')),
      owner_id TEXT NOT NULL,
      released_at INTEGER
    )`,
    `CREATE UNIQUE INDEX handles_one_current_per_owner ON handles (owner_id) WHERE released_at IS NULL`,
    `CREATE INDEX handles_owner ON handles (owner_id)`,

    `CREATE TABLE users (
      id TEXT PRIMARY KEY NOT NULL,
      username TEXT,
      display_name TEXT NOT NULL DEFAULT '',
      bio TEXT NOT NULL DEFAULT '',
      website TEXT NOT NULL DEFAULT '',
      password_hash TEXT,
      is_administrator INTEGER NOT NULL DEFAULT 0,
      must_change_password INTEGER NOT NULL DEFAULT 0,
      disabled_at INTEGER,
      created_at INTEGER NOT NULL,
      last_seen_at INTEGER
    )`,
    `CREATE UNIQUE INDEX users_username ON users (username)`,

    `CREATE TABLE sessions (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      token_hash TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      last_seen_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      address TEXT NOT NULL DEFAULT '',
      user_agent TEXT NOT NULL DEFAULT ''
    )`,
    `CREATE UNIQUE INDEX sessions_token_hash ON sessions (token_hash)`,
    `CREATE INDEX sessions_user ON sessions (user_id)`,

    `CREATE TABLE access_tokens (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      token_hash TEXT NOT NULL,
      ending TEXT NOT NULL,
      access TEXT NOT NULL CONSTRAINT access_tokens_access CHECK (access IN ('read', 'write', 'admin')),
      all_repositories INTEGER NOT NULL DEFAULT 1,
      expires_at INTEGER,
      created_at INTEGER NOT NULL,
      last_used_at INTEGER,
      last_used_address TEXT
    )`,
    `CREATE UNIQUE INDEX access_tokens_token_hash ON access_tokens (token_hash)`,
    `CREATE UNIQUE INDEX access_tokens_user_name ON access_tokens (user_id, name)`,

    `CREATE TABLE ssh_keys (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      title TEXT NOT NULL,
      type TEXT NOT NULL,
      blob_base64 TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      last_used_at INTEGER,
      last_used_address TEXT
    )`,
    `CREATE UNIQUE INDEX ssh_keys_fingerprint ON ssh_keys (fingerprint)`,
    `CREATE INDEX ssh_keys_user ON ssh_keys (user_id)`,

    `CREATE TABLE invites (
      id TEXT PRIMARY KEY NOT NULL,
      token_hash TEXT NOT NULL,
      created_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER,
      used_by TEXT REFERENCES users (id) ON DELETE SET NULL
    )`,
    `CREATE UNIQUE INDEX invites_token_hash ON invites (token_hash)`,

    `CREATE TABLE setup_tokens (
      token_hash TEXT PRIMARY KEY NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    )`,
  ],
};
