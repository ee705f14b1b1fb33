import type { Migration } from '../src/db/index.ts';

/** Since when a node has a lease: one that is never given back is seen by its age. */
export const leasesSince: Migration = {
  version: 447,
  name: 'LeasesSince',
  statements: ['ALTER TABLE leases ADD COLUMN taken_at BIGINT'],
};
