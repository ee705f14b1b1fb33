import type { Migration } from '../src/db/index.ts';

/**
 * When a repository of the store was written to its journal as a whole, and when objects that no ref leads to were left
 * out of its packs.
 */
export const maintenanceOfStoredRepositories: Migration = {
  version: 385,
  name: 'Maintenance of stored repositories',
  statements: [
    'ALTER TABLE stored_repositories ADD COLUMN snapshot_generation BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE stored_repositories ADD COLUMN collected_at BIGINT NOT NULL DEFAULT 0',
  ],
};
