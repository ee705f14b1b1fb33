import type { Migration } from '../src/db/index.ts';

/**
 * Since when another server gives no answer, and when it was given up; deliveries that were not to be
 * sent any more, which is no fault; what WebFinger called a remote actor; and the origin that the ids
 * of our own actors began with, beside their keys, so that a changed base URL is noticed.
 */
export const peersGone: Migration = {
  version: 66,
  name: 'PeersGone',
  statements: [
    `ALTER TABLE federation_peers ADD COLUMN silent_since BIGINT`,
    `ALTER TABLE federation_peers ADD COLUMN gone_at BIGINT`,
    `ALTER TABLE federation_delivery ADD COLUMN cancelled_at BIGINT`,
    `CREATE INDEX federation_delivery_cancelled ON federation_delivery (cancelled_at) WHERE cancelled_at IS NOT NULL`,
    `ALTER TABLE remote_actors ADD COLUMN webfinger_handle TEXT`,
    `CREATE TABLE federation_origins (
      origin TEXT PRIMARY KEY NOT NULL,
      accepted_at BIGINT NOT NULL
    )`,
  ],
};
