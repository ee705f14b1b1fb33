import type { Migration } from '../src/db/index.ts';

/** Webhooks of repositories and organisations, and their delivery queue. */
export const webhooks: Migration = {
  version: 51,
  name: 'Webhooks',
  statements: [
    `CREATE TABLE webhooks (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT REFERENCES repositories (id) ON DELETE CASCADE,
      organisation_id TEXT REFERENCES organisations (id) ON DELETE CASCADE,
      url TEXT NOT NULL,
      secret_ciphertext TEXT,
      events TEXT NOT NULL,
      is_active INTEGER NOT NULL DEFAULT 1,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      CONSTRAINT webhooks_one_scope CHECK ((repository_id IS NULL) <> (organisation_id IS NULL))
    )`,
    `CREATE INDEX webhooks_repository ON webhooks (repository_id) WHERE repository_id IS NOT NULL`,
    `CREATE INDEX webhooks_organisation ON webhooks (organisation_id) WHERE organisation_id IS NOT NULL`,

    `CREATE TABLE webhook_deliveries (
      id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      uuid TEXT NOT NULL,
      webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
      event TEXT NOT NULL,
      about TEXT,
      payload TEXT,
      state TEXT NOT NULL
        CONSTRAINT webhook_deliveries_state CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
      attempts INTEGER NOT NULL DEFAULT 0,
      next_attempt_at INTEGER NOT NULL,
      locked_until INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      tried_at INTEGER,
      took_ms INTEGER,
      status INTEGER,
      response TEXT,
      error TEXT,
      redelivery_of INTEGER
    )`,
    `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE state = 'PENDING'`,
    `CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, id)`,
    `CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at)`,
  ],
};
