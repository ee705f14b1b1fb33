import type { Migration } from '../src/db/index.ts';

/** How many people and organisations were made since: their ids begin with it, and clients know them by numbers. */
export const ownerNumbers: Migration = {
  version: 224,
  name: 'Owner numbers',
  statements: [
    'CREATE TABLE owner_numbers (id INTEGER PRIMARY KEY, last BIGINT NOT NULL)',
    'INSERT INTO owner_numbers (id, last) VALUES (1, 0)',
  ],
};
