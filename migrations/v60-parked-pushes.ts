import type { Migration } from '../src/db/index.ts';

/**
 * Attempts of a push's listeners, so that one that always fails, or crashes the server, is parked instead of being
 * retried at every start.
 */
export const parkedPushes: Migration = {
  version: 60,
  name: 'ParkedPushes',
  statements: [
    `ALTER TABLE pushes ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0`,
    `ALTER TABLE pushes ADD COLUMN tried_at BIGINT`,
    `ALTER TABLE pushes ADD COLUMN last_error TEXT`,
    `ALTER TABLE pushes ADD COLUMN parked_at BIGINT`,
    `CREATE INDEX pushes_parked ON pushes (parked_at) WHERE parked_at IS NOT NULL`,
    `CREATE TABLE push_listener_attempts (
      push_id TEXT NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
      listener TEXT NOT NULL,
      attempts BIGINT NOT NULL,
      last_error TEXT,
      PRIMARY KEY (push_id, listener)
    )`,
  ],
};
