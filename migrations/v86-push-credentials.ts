import type { Migration } from '../src/db/index.ts';

/**
 * The limits of the credential that pushed, as JSON: what follows from a push in other repositories, such as an issue
 * that a commit closes, must not exceed them. Null for older pushes and for those of no person.
 */
export const pushCredentials: Migration = {
  version: 86,
  name: 'PushCredentials',
  statements: ['ALTER TABLE pushes ADD COLUMN credential TEXT'],
};
