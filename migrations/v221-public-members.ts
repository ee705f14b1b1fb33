import type { Migration } from '../src/db/index.ts';

/** Members of an organisation who show the world that they belong to it. */
export const publicMembers: Migration = {
  version: 221,
  name: 'Public members',
  statements: [
    'ALTER TABLE organisation_members ADD COLUMN is_public INTEGER NOT NULL DEFAULT 0',
    'CREATE INDEX organisation_members_public ON organisation_members (organisation_id, user_id) WHERE is_public = 1',
  ],
};
