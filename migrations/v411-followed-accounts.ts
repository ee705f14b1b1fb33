import type { Migration } from '../src/db/index.ts';

/** Of a follow elsewhere: whether it is of a repository, or of a person who has none to follow. */
export const followedAccounts: Migration = {
  version: 411,
  name: 'FollowedAccounts',
  statements: ["ALTER TABLE remote_follows ADD COLUMN kind TEXT NOT NULL DEFAULT 'repository'"],
};
