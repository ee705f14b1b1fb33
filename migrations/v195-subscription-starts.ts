import type { Migration } from '../src/db/index.ts';

/**
 * The entry of the issue at which a subscription began: entries up to it are no news to the person. Subscriptions from
 * before have every entry after the first.
 */
export const subscriptionStarts: Migration = {
  version: 195,
  name: 'Subscription starts',
  statements: ['ALTER TABLE subscriptions ADD COLUMN since_position BIGINT NOT NULL DEFAULT -1'],
};
