import type { Migration } from '../src/db/index.ts';

/**
 * Follows of people, which include all their repositories (SPEC §3), and the state of other servers: availability, and
 * pairings made by two administrators.
 */
export const followedPeople: Migration = {
  version: 19,
  name: 'FollowedPeople',
  statements: [
    `ALTER TABLE remote_follows ADD COLUMN via_user_actor_id TEXT`,
    `CREATE INDEX remote_follows_via ON remote_follows (user_id, via_user_actor_id) WHERE via_user_actor_id IS NOT NULL`,

    `CREATE TABLE remote_user_follows (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      remote_actor_id TEXT NOT NULL,
      host TEXT NOT NULL,
      handle TEXT NOT NULL,
      url TEXT,
      total_items INTEGER,
      created_at INTEGER NOT NULL,
      next_scan_at INTEGER NOT NULL,
      scan_error TEXT
    )`,
    `CREATE UNIQUE INDEX remote_user_follows_user_actor ON remote_user_follows (user_id, remote_actor_id)`,
    `CREATE INDEX remote_user_follows_scan ON remote_user_follows (next_scan_at)`,

    `CREATE TABLE remote_user_repositories (
      user_follow_id TEXT NOT NULL REFERENCES remote_user_follows (id) ON DELETE CASCADE,
      remote_actor_id TEXT NOT NULL,
      PRIMARY KEY (user_follow_id, remote_actor_id)
    )`,

    `CREATE TABLE federation_peers (
      host TEXT PRIMARY KEY NOT NULL,
      paired_at INTEGER,
      asked_at INTEGER,
      last_success_at INTEGER,
      last_error_at INTEGER,
      last_error TEXT,
      failures INTEGER NOT NULL DEFAULT 0,
      retry_at INTEGER NOT NULL DEFAULT 0
    )`,

    `CREATE TABLE federation_pairing_codes (
      code_hash TEXT PRIMARY KEY NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    )`,
  ],
};
