import type { Migration } from '../src/db/index.ts';

/** The first entry of the issue that a subscription is for: those before it are no news to the person. */
export const subscriptionStarts: Migration = {
  version: 195,
  name: 'Subscription starts',
  statements: ['ALTER TABLE subscriptions ADD COLUMN from_position BIGINT NOT NULL DEFAULT 0'],
};
