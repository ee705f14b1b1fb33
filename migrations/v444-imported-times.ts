import type { Migration } from '../src/db/index.ts';

/** Tracked times of other forges: who spent them, as the name in texts, and their key there. */
export const importedTimes: Migration = {
  version: 444,
  name: 'ImportedTimes',
  statements: [
    'ALTER TABLE tracked_times ADD COLUMN user_name TEXT',
    'ALTER TABLE tracked_times ADD COLUMN origin TEXT',
    'CREATE INDEX tracked_times_origin ON tracked_times (repository_id, origin)',
  ],
};
