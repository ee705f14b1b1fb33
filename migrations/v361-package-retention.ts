import type { Migration } from '../src/db/index.ts';

/** Which versions of the packages of an owner are kept, by format. */
export const packageRetention: Migration = {
  version: 361,
  name: 'Retention of packages',
  statements: [
    `CREATE TABLE package_retention (
      owner_id TEXT NOT NULL,
      format TEXT NOT NULL,
      rules TEXT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (owner_id, format)
    )`,
  ],
};
