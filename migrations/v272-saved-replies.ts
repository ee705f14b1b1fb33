import type { Migration } from '../src/db/index.ts';

/** Texts that a person keeps for comments. */
export const savedReplies: Migration = {
  version: 272,
  name: 'Saved replies',
  statements: [
    `CREATE TABLE saved_replies (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      title TEXT NOT NULL,
      body TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    'CREATE INDEX saved_replies_user ON saved_replies (user_id, title, id)',
  ],
};
