import type { Migration } from '../src/db/index.ts';

/**
 * Releases that come from another forge. `origin` names a release or a file there, so that a second import finds it
 * again; null for what was made here. `with_releases`: whether a pull mirror or an import brings them.
 */
export const importedReleases: Migration = {
  version: 154,
  name: 'Imported releases',
  statements: [
    'ALTER TABLE mirrors ADD COLUMN with_releases INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE releases ADD COLUMN origin TEXT',
    'ALTER TABLE release_files ADD COLUMN origin TEXT',
  ],
};
