import type { Migration } from '../src/db/index.ts';

/** Uploaded avatars of people and organisations. */
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
