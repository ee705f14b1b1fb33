import type { Migration } from '../src/db/index.ts';

/** Pictures that people and organisations chose for themselves; no row, no picture. */
export const avatars: Migration = {
  version: 16,
  name: 'Avatars',
  statements: [
    `CREATE TABLE avatars (
      owner_id TEXT PRIMARY KEY NOT NULL,
      content_type TEXT NOT NULL,
      updated_at INTEGER NOT NULL
    )`,
  ],
};
