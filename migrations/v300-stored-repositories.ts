import type { Migration } from '../src/db/index.ts';

/**
 * Repositories in the object store: refs are rows, packs are objects that rows name. A wiki is one of its own,
 * `<id>.wiki`. No reference to `repositories`: that row comes later, and goes earlier.
 */
export const storedRepositories: Migration = {
  version: 300,
  name: 'Stored repositories',
  statements: [
    `CREATE TABLE stored_repositories (
      id TEXT PRIMARY KEY NOT NULL,
      head TEXT NOT NULL,
      generation BIGINT NOT NULL,
      dropped_generation BIGINT NOT NULL,
      journalled BIGINT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE git_refs (
      repository TEXT NOT NULL REFERENCES stored_repositories (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      oid TEXT,
      peeled TEXT,
      generation BIGINT NOT NULL,
      changed_at BIGINT NOT NULL,
      PRIMARY KEY (repository, name)
    )`,
    'CREATE INDEX git_refs_generation ON git_refs (repository, generation)',
    `CREATE TABLE git_packs (
      repository TEXT NOT NULL REFERENCES stored_repositories (id) ON DELETE CASCADE,
      key TEXT NOT NULL,
      name TEXT NOT NULL,
      pack_sha256 TEXT NOT NULL,
      index_sha256 TEXT NOT NULL,
      pack_bytes BIGINT NOT NULL,
      index_bytes BIGINT NOT NULL,
      generation BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      replaced_generation BIGINT,
      replaced_at BIGINT,
      PRIMARY KEY (repository, key)
    )`,
    'CREATE INDEX git_packs_key ON git_packs (key)',
    'CREATE INDEX git_packs_replaced ON git_packs (replaced_at) WHERE replaced_at > 0',
  ],
};
