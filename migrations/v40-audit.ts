import type { Migration } from '../src/db/index.ts';

/**
 * The audit log: each entry contains the hash of the one before, so that none can be changed or removed unnoticed. No
 * foreign keys: an entry outlives its subject.
 */
export const audit: Migration = {
  version: 40,
  name: 'Audit',
  statements: [
    `CREATE TABLE audit_log (
      id INTEGER PRIMARY KEY NOT NULL,
      at INTEGER NOT NULL,
      actor TEXT NOT NULL,
      address TEXT,
      event TEXT NOT NULL,
      details TEXT NOT NULL,
      hash TEXT NOT NULL
    )`,
    `CREATE INDEX audit_log_event ON audit_log (event, id)`,
    `CREATE TRIGGER audit_log_stays BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'the audit log is never changed'); END`,

    `CREATE TABLE job_runs (
      name TEXT PRIMARY KEY NOT NULL,
      last_started_at INTEGER NOT NULL,
      last_took_ms INTEGER NOT NULL,
      last_error TEXT,
      failures INTEGER NOT NULL DEFAULT 0
    )`,
  ],
};
