import type { Migration } from '../src/db/index.ts';

/**
 * When each repository and each kind of objects was last read whole, and what was found: `repository:ID`,
 * `objects:KIND`. A reading of objects that is not at its end has where it goes on (`position`, JSON) and what it found
 * so far (`found`, a JSON list of keys).
 */
export const integrityChecks: Migration = {
  version: 211,
  name: 'Integrity checks',
  statements: [
    `CREATE TABLE integrity_checks (
      subject TEXT PRIMARY KEY,
      checked_at BIGINT NOT NULL,
      problem TEXT,
      position TEXT,
      found TEXT
    )`,
    'CREATE INDEX integrity_checks_age ON integrity_checks (checked_at, subject)',
    'CREATE INDEX integrity_checks_problems ON integrity_checks (subject) WHERE problem IS NOT NULL',
  ],
};
