import type { Migration } from '../src/db/index.ts';

/**
 * Processes that serve one database. Each has a row with the time until which it counts as alive, by the clock of the
 * database; work that one of them does at a time has a lease. A push belongs to the node that received it. The earlier
 * rows about storages, which nothing has filled, go.
 */
export const nodes: Migration = {
  version: 400,
  name: 'Nodes',
  statements: [
    'DROP TABLE storages',
    'DROP TABLE leases',
    'ALTER TABLE repositories DROP COLUMN storage_id',
    'ALTER TABLE unfinished_forks RENAME COLUMN storage_id TO node',
    `CREATE TABLE nodes (
      id TEXT PRIMARY KEY NOT NULL,
      host TEXT NOT NULL,
      version TEXT NOT NULL,
      run TEXT NOT NULL,
      started_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL,
      until BIGINT NOT NULL
    )`,
    `CREATE TABLE leases (
      name TEXT PRIMARY KEY NOT NULL,
      node TEXT NOT NULL,
      until BIGINT NOT NULL
    )`,
    'ALTER TABLE pushes ADD COLUMN node TEXT',
  ],
};
