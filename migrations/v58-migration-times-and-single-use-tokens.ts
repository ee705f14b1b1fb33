import type { Migration } from '../src/db/index.ts';

/** When each step of the schema was applied (null for those before this one), and registration tokens for one use. */
export const migrationTimes: Migration = {
  version: 58,
  name: 'Noted',
  statements: [
    `ALTER TABLE migrations ADD COLUMN applied_at INTEGER`,
    `ALTER TABLE ci_registration_tokens ADD COLUMN single_use INTEGER NOT NULL DEFAULT 0`,
  ],
};
