import type { Migration } from '../src/db/index.ts';

/**
 * The object of a blob has a name of its own, so that one that is being removed is never taken for one that came
 * meanwhile. What was marked as being removed has gone, or is found as an object without a row; nothing is marked any
 * more.
 */
export const packageObjects: Migration = {
  version: 360,
  name: 'Objects of packages',
  statements: [
    'DELETE FROM package_blobs WHERE removing_at IS NOT NULL',
    'ALTER TABLE package_blobs ADD COLUMN object_name TEXT',
  ],
};
