import type { Migration } from '../src/db/index.ts';

/**
 * Claims of people of other forges. `user_id` of an imported reaction is the account of its person, once that was
 * claimed: the account's own reaction stands for it. People are found by the address that their source vouches for.
 */
export const claimedReactions: Migration = {
  version: 231,
  name: 'Claims of imported people',
  statements: [
    'ALTER TABLE imported_reactions ADD COLUMN user_id TEXT REFERENCES users (id) ON DELETE SET NULL',
    `CREATE INDEX import_people_email ON import_people (email) WHERE email <> ''`,
    'CREATE INDEX imports_host ON imports (host)',
  ],
};
