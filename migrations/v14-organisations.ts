import type { Migration } from '../src/db/index.ts';

const repositoryColumns = `id, owner_user_id, name, name_folded, description, visibility, default_branch,
  size_bytes, archived_at, created_at, updated_at, pushed_at, deleted_at, deleted_by,
  image_content_type, image_updated_at`;

/**
 * Organisations, and repositories that belong to exactly one user or one organisation (SPEC §2.2, §2.3). SQLite cannot
 * add a CHECK to a table, so `repositories` is rebuilt under its name.
 */
export const organisations: Migration = {
  version: 14,
  name: 'Organisations',
  statements: [
    `CREATE TABLE organisations (
      id TEXT PRIMARY KEY NOT NULL,
      name TEXT NOT NULL,
      display_name TEXT,
      description TEXT NOT NULL DEFAULT '',
      created_at INTEGER NOT NULL
    )`,
    `CREATE UNIQUE INDEX organisations_name ON organisations (name)`,

    `CREATE TABLE organisation_members (
      organisation_id TEXT NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      role TEXT NOT NULL
        CONSTRAINT organisation_members_role CHECK (role IN ('GUEST', 'MEMBER', 'OWNER')),
      created_at INTEGER NOT NULL,
      PRIMARY KEY (organisation_id, user_id)
    )`,
    `CREATE INDEX organisation_members_user ON organisation_members (user_id)`,

    `CREATE TABLE repositories_with_owners (
      id TEXT PRIMARY KEY NOT NULL,
      owner_user_id TEXT REFERENCES users (id) ON DELETE RESTRICT,
      owner_org_id TEXT REFERENCES organisations (id) ON DELETE RESTRICT,
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      description TEXT NOT NULL DEFAULT '',
      visibility TEXT NOT NULL
        CONSTRAINT repositories_visibility CHECK (visibility IN ('PUBLIC', 'PRIVATE')),
      default_branch TEXT NOT NULL DEFAULT 'main',
      size_bytes INTEGER NOT NULL DEFAULT 0,
      archived_at INTEGER,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      pushed_at INTEGER,
      deleted_at INTEGER,
      deleted_by TEXT,
      image_content_type TEXT,
      image_updated_at INTEGER,
      CONSTRAINT repositories_exactly_one_owner
        CHECK ((owner_user_id IS NULL) <> (owner_org_id IS NULL))
    )`,
    `INSERT INTO repositories_with_owners (${repositoryColumns}) SELECT ${repositoryColumns} FROM repositories`,
    `DROP TABLE repositories`,
    `ALTER TABLE repositories_with_owners RENAME TO repositories`,
    `CREATE UNIQUE INDEX repositories_user_name ON repositories (owner_user_id, name_folded) WHERE deleted_at IS NULL`,
    `CREATE UNIQUE INDEX repositories_org_name ON repositories (owner_org_id, name_folded) WHERE deleted_at IS NULL`,
    `CREATE INDEX repositories_recent ON repositories (updated_at, id) WHERE deleted_at IS NULL`,
  ],
};
