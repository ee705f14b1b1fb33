import type { Migration } from '../src/db/index.ts';

/**
 * Federation (SPEC §2.5): keys of local actors, the cache of remote ones, published and received activities, and the
 * delivery queue.
 *
 * `federation_keys` has no foreign keys on purpose: an actor id is permanent and must never get another meaning, also
 * when its person or repository is deleted.
 */
export const federation: Migration = {
  version: 2,
  name: 'Federation',
  statements: [
    `CREATE TABLE federation_keys (
      ap_path TEXT PRIMARY KEY NOT NULL,
      kind TEXT NOT NULL CONSTRAINT federation_keys_kind CHECK (kind IN ('repository', 'user', 'instance')),
      owner_id TEXT NOT NULL,
      public_key_pem TEXT NOT NULL,
      private_key_pem TEXT NOT NULL,
      created_at INTEGER NOT NULL
    )`,
    `CREATE UNIQUE INDEX federation_keys_owner ON federation_keys (kind, owner_id)`,

    `CREATE TABLE remote_actors (
      id TEXT PRIMARY KEY NOT NULL,
      host TEXT NOT NULL,
      type TEXT NOT NULL,
      name TEXT NOT NULL,
      handle TEXT NOT NULL,
      url TEXT,
      inbox TEXT NOT NULL,
      repositories_url TEXT,
      key_id TEXT NOT NULL,
      public_key_pem TEXT NOT NULL,
      fetched_at INTEGER NOT NULL
    )`,
    `CREATE INDEX remote_actors_key ON remote_actors (key_id)`,
    `CREATE INDEX remote_actors_fetched ON remote_actors (fetched_at)`,

    `CREATE TABLE federation_outbox (
      id TEXT PRIMARY KEY NOT NULL,
      actor_path TEXT NOT NULL,
      repository_id TEXT,
      type TEXT NOT NULL,
      is_public INTEGER NOT NULL,
      activity TEXT NOT NULL,
      created_at INTEGER NOT NULL
    )`,
    `CREATE INDEX federation_outbox_public ON federation_outbox (actor_path, created_at, id) WHERE is_public = 1`,
    `CREATE INDEX federation_outbox_age ON federation_outbox (created_at) WHERE is_public = 0`,

    `CREATE TABLE federation_inbox (
      signer TEXT NOT NULL,
      activity_id TEXT NOT NULL,
      type TEXT NOT NULL,
      received_at INTEGER NOT NULL,
      PRIMARY KEY (signer, activity_id)
    )`,
    `CREATE INDEX federation_inbox_age ON federation_inbox (received_at)`,

    `CREATE TABLE federation_delivery (
      id INTEGER PRIMARY KEY NOT NULL,
      outbox_id TEXT NOT NULL REFERENCES federation_outbox (id) ON DELETE CASCADE,
      target_inbox TEXT NOT NULL,
      host TEXT NOT NULL,
      state TEXT NOT NULL CONSTRAINT federation_delivery_state CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
      attempts INTEGER NOT NULL DEFAULT 0,
      last_error TEXT,
      next_attempt_at INTEGER NOT NULL,
      locked_until INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      settled_at INTEGER
    )`,
    `CREATE INDEX federation_delivery_due ON federation_delivery (host, next_attempt_at, id) WHERE state = 'PENDING'`,
    `CREATE INDEX federation_delivery_outbox ON federation_delivery (outbox_id)`,
    `CREATE INDEX federation_delivery_settled ON federation_delivery (state, settled_at) WHERE state <> 'PENDING'`,
  ],
};
