import type { Migration } from '../src/db/index.ts';

/** The language that a person chose for pages and mails. */
export const userLanguages: Migration = {
  version: 320,
  name: 'languages of users',
  statements: ['ALTER TABLE users ADD COLUMN language TEXT'],
};
