import type { Migration } from '../src/db/index.ts';

/**
 * Imports of whole accounts, organisations and servers. A row of `import_groups` is such an order; its owners are the
 * accounts there with the owner that each becomes here, its items their repositories with what became of each.
 */
export const importGroups: Migration = {
  version: 395,
  name: 'Imports of accounts and servers',
  statements: [
    `CREATE TABLE import_groups (
      id TEXT PRIMARY KEY NOT NULL,
      kind TEXT NOT NULL,
      api TEXT NOT NULL,
      account TEXT NOT NULL,
      owner TEXT NOT NULL,
      url TEXT NOT NULL,
      host TEXT NOT NULL,
      secret_ciphertext TEXT,
      options TEXT NOT NULL DEFAULT '{}',
      state TEXT NOT NULL CONSTRAINT import_groups_state CHECK (state IN ('running', 'done', 'paused')),
      cursor TEXT,
      has_owners INTEGER NOT NULL DEFAULT 0,
      watch_ms BIGINT,
      next_at BIGINT NOT NULL,
      locked_until BIGINT NOT NULL DEFAULT 0,
      waits_until BIGINT,
      failures INTEGER NOT NULL DEFAULT 0,
      last_error TEXT,
      requests BIGINT NOT NULL DEFAULT 0,
      started_by TEXT REFERENCES users (id) ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    `CREATE INDEX import_groups_due ON import_groups (next_at) WHERE state = 'running'`,
    'CREATE INDEX import_groups_claims ON import_groups (locked_until) WHERE locked_until > 0',
    'CREATE INDEX import_groups_starter ON import_groups (started_by, created_at DESC, id)',
    'CREATE INDEX import_groups_newest ON import_groups (created_at DESC, id)',
    `CREATE TABLE import_group_owners (
      group_id TEXT NOT NULL REFERENCES import_groups (id) ON DELETE CASCADE,
      login TEXT NOT NULL,
      kind TEXT NOT NULL,
      details TEXT NOT NULL DEFAULT '{}',
      owner_id TEXT,
      problem TEXT,
      cursor TEXT,
      is_listed INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (group_id, login)
    )`,
    `CREATE TABLE import_group_items (
      group_id TEXT NOT NULL REFERENCES import_groups (id) ON DELETE CASCADE,
      project TEXT NOT NULL,
      login TEXT NOT NULL,
      name TEXT NOT NULL,
      url TEXT NOT NULL,
      begun_at BIGINT,
      repository_id TEXT REFERENCES repositories (id) ON DELETE SET NULL,
      problem TEXT,
      PRIMARY KEY (group_id, project)
    )`,
    `CREATE INDEX import_group_items_waiting ON import_group_items (group_id, project)
      WHERE repository_id IS NULL AND problem IS NULL`,
    'CREATE INDEX import_group_items_repository ON import_group_items (repository_id) WHERE repository_id IS NOT NULL',
  ],
};
