import type { Migration } from '../src/db/index.ts';

/**
 * What a process may keep in memory where it has the database for itself, and what each node must find elsewhere:
 * sealed values of some minutes, and counts of attempts. Their times are by the clock of the database, their names are
 * digests.
 */
export const sharedState: Migration = {
  version: 430,
  name: 'SharedState',
  statements: [
    `CREATE TABLE kept_values (
      id TEXT PRIMARY KEY NOT NULL,
      value TEXT NOT NULL,
      until BIGINT NOT NULL
    )`,
    'CREATE INDEX kept_values_until ON kept_values (until)',
    `CREATE TABLE attempts (
      id TEXT PRIMARY KEY NOT NULL,
      count BIGINT NOT NULL,
      until BIGINT NOT NULL
    )`,
    'CREATE INDEX attempts_until ON attempts (until)',
  ],
};
