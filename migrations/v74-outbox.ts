import type { Migration } from '../src/db/index.ts';

const columns = `id, uuid, webhook_id, event, about, payload, state, attempts, next_attempt_at, locked_until, created_at,
      tried_at, took_ms, status, response, error, redelivery_of`;

/**
 * One table of messages that are to be sent or done, whatever their kind. The queue of webhooks moves there, with the
 * numbers that people know; what is shown of a message besides stays beside it, and `webhook_deliveries` becomes a view
 * of both with the columns that the table had.
 */
export const outbox: Migration = {
  version: 74,
  name: 'Outbox',
  statements: [
    `CREATE TABLE outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      payload TEXT,
      state TEXT NOT NULL
        CONSTRAINT outbox_state CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
      attempts BIGINT NOT NULL DEFAULT 0,
      next_at BIGINT NOT NULL,
      lease_until BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      last_error TEXT
    )`,
    `CREATE TABLE webhook_messages (
      id INTEGER PRIMARY KEY NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
      uuid TEXT NOT NULL,
      webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
      event TEXT NOT NULL,
      about TEXT,
      tried_at BIGINT,
      took_ms BIGINT,
      status BIGINT,
      response TEXT,
      redelivery_of BIGINT
    )`,
    `INSERT INTO outbox (id, kind, key, payload, state, attempts, next_at, lease_until, created_at, last_error)
     SELECT id, 'webhook', webhook_id, payload, state, attempts, next_attempt_at, locked_until, created_at, error FROM webhook_deliveries`,
    `INSERT INTO webhook_messages (id, uuid, webhook_id, event, about, tried_at, took_ms, status, response, redelivery_of)
     SELECT id, uuid, webhook_id, event, about, tried_at, took_ms, status, response, redelivery_of FROM webhook_deliveries`,
    `DROP TABLE webhook_deliveries`,
    `CREATE INDEX outbox_due ON outbox (kind, key, next_at, id) WHERE state = 'PENDING'`,
    `CREATE INDEX outbox_state ON outbox (state, kind, next_at)`,
    `CREATE INDEX outbox_age ON outbox (kind, created_at) WHERE state <> 'PENDING'`,
    `CREATE INDEX webhook_messages_webhook ON webhook_messages (webhook_id, id)`,
    // A webhook that is removed takes its messages along, also when that is a cascade.
    `CREATE TRIGGER webhook_messages_removed AFTER DELETE ON webhook_messages BEGIN DELETE FROM outbox WHERE id = OLD.id; END`,
    `CREATE VIEW webhook_deliveries (${columns}) AS
     SELECT m.id, m.uuid, m.webhook_id, m.event, m.about, o.payload, o.state, o.attempts, o.next_at, o.lease_until, o.created_at,
      m.tried_at, m.took_ms, m.status, m.response, o.last_error, m.redelivery_of
       FROM webhook_messages m JOIN outbox o ON o.id = m.id`,
  ],
};
