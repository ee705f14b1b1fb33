import type { Migration } from '../src/db/index.ts';

/**
 * Where the folders of repositories lie and which node works on them, and which node runs the jobs that one node at a
 * time may run. There is one storage and one node today; a start and the jobs ask all the same, so that a second node
 * would touch nothing of the first one's.
 */
export const storages: Migration = {
  version: 90,
  name: 'Storages',
  statements: [
    `CREATE TABLE storages (
      id TEXT PRIMARY KEY NOT NULL,
      kind TEXT NOT NULL CONSTRAINT storages_kind CHECK (kind IN ('local', 'shared')),
      node TEXT NOT NULL,
      epoch BIGINT NOT NULL,
      until BIGINT)`,
    "INSERT INTO storages (id, kind, node, epoch) VALUES ('local', 'local', 'local', 1)",
    "ALTER TABLE repositories ADD COLUMN storage_id TEXT NOT NULL DEFAULT 'local'",
    `CREATE TABLE leases (
      name TEXT PRIMARY KEY NOT NULL,
      node TEXT NOT NULL,
      epoch BIGINT NOT NULL,
      until BIGINT)`,
    "INSERT INTO leases (name, node, epoch) VALUES ('jobs', 'local', 1)",
  ],
};
