import type { Migration } from '../src/db/index.ts';

/**
 * What all nodes of a database present as one: a print of the instance key, and the host keys of SSH, sealed with it.
 * A node says which host key it presents.
 */
export const sharedKeys: Migration = {
  version: 445,
  name: 'SharedKeys',
  statements: [
    `CREATE TABLE shared_keys (
      name TEXT PRIMARY KEY NOT NULL,
      print TEXT NOT NULL,
      sealed TEXT
    )`,
    'ALTER TABLE nodes ADD COLUMN host_key TEXT',
  ],
};
