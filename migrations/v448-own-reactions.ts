import type { Migration } from '../src/db/index.ts';

/** Whether the account of a claimed reaction had given the same one itself; it then keeps it without the claim. */
export const ownReactions: Migration = {
  version: 448,
  name: 'Own reactions beside claimed ones',
  statements: ['ALTER TABLE imported_reactions ADD COLUMN is_own INTEGER NOT NULL DEFAULT 0'],
};
