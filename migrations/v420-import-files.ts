import type { Migration } from '../src/db/index.ts';

/** Imports whose source is a local folder: `files` says how it is written; null for the API of a forge. */
export const importFiles: Migration = {
  version: 420,
  name: 'Imports from files',
  statements: ['ALTER TABLE imports ADD COLUMN files TEXT'],
};
