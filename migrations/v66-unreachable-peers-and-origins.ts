import type { Migration } from '../src/db/index.ts';

/**
 * Since when another server has not responded, and when it was given up; cancelled deliveries, which are no failures;
 * the WebFinger name of a remote actor; and the origin of our own actor ids, beside their keys, so that a changed base
 * URL is noticed.
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
    `CREATE INDEX federation_peers_gone ON federation_peers (host) WHERE gone_at IS NOT NULL`,
    `CREATE INDEX repository_followers_host ON repository_followers (host)`,
    `CREATE INDEX remote_user_follows_actor ON remote_user_follows (remote_actor_id)`,
    `CREATE TABLE federation_origins (
      origin TEXT PRIMARY KEY NOT NULL,
      accepted_at BIGINT NOT NULL
    )`,
  ],
};
