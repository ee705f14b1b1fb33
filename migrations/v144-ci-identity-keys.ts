import type { Migration } from '../src/db/index.ts';

/**
 * Keys that sign the identity tokens of jobs, the private half encrypted with the instance key; and events that
 * happened inside a write, whose workflows are started after it.
 */
export const ciIdentityKeys: Migration = {
  version: 144,
  name: 'CiIdentityKeys',
  statements: [
    `CREATE TABLE ci_identity_keys (
      id TEXT PRIMARY KEY NOT NULL,
      private_key TEXT NOT NULL,
      public_key TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      retired_at BIGINT
    )`,
    `CREATE TABLE ci_pending_events (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      event TEXT NOT NULL,
      action TEXT NOT NULL,
      details TEXT NOT NULL,
      ref TEXT,
      is_trusted INTEGER NOT NULL,
      actor_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at BIGINT NOT NULL
    )`,
    'CREATE INDEX ci_pending_events_repository ON ci_pending_events (repository_id)',
    'CREATE INDEX ci_pending_events_actor ON ci_pending_events (actor_id)',
  ],
};
