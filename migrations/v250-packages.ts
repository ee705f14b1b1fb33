import type { Migration } from '../src/db/index.ts';

/**
 * Packages of people and organisations, their versions and files. Content lies in objects, once for each owner and
 * digest (`package_blobs`); a file names it. A blob of a container image is visible in a package where
 * `package_blob_names` or a file says so. `package_usage` is kept by triggers.
 */
export const packages: Migration = {
  version: 250,
  name: 'Packages',
  statements: [
    'ALTER TABLE access_tokens ADD COLUMN only_packages INTEGER NOT NULL DEFAULT 0',
    `CREATE TABLE packages (
      id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      owner_kind TEXT NOT NULL CHECK (owner_kind IN ('user', 'organisation')),
      format TEXT NOT NULL,
      name TEXT NOT NULL,
      name_key TEXT NOT NULL,
      repository_id TEXT REFERENCES repositories (id) ON DELETE SET NULL,
      visibility TEXT NOT NULL CHECK (visibility IN ('PUBLIC', 'PRIVATE')),
      versions BIGINT NOT NULL DEFAULT 0,
      retention TEXT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX packages_name ON packages (owner_id, format, name_key)',
    'CREATE INDEX packages_owner_updated ON packages (owner_id, updated_at DESC, id)',
    'CREATE INDEX packages_repository ON packages (repository_id, updated_at DESC, id) WHERE repository_id IS NOT NULL',
    `CREATE TABLE package_versions (
      id TEXT PRIMARY KEY,
      package_id TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
      version TEXT NOT NULL,
      version_key TEXT NOT NULL,
      metadata TEXT NOT NULL,
      subject TEXT,
      bytes BIGINT NOT NULL,
      downloads BIGINT NOT NULL DEFAULT 0,
      publisher_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      task_id BIGINT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      deleted_at BIGINT,
      deleted_by TEXT
    )`,
    'CREATE UNIQUE INDEX package_versions_key ON package_versions (package_id, version_key)',
    'CREATE INDEX package_versions_created ON package_versions (package_id, created_at DESC, id)',
    'CREATE INDEX package_versions_subject ON package_versions (package_id, subject) WHERE subject IS NOT NULL',
    'CREATE INDEX package_versions_deleted ON package_versions (deleted_at) WHERE deleted_at IS NOT NULL',
    'CREATE INDEX package_versions_publisher ON package_versions (publisher_id) WHERE publisher_id IS NOT NULL',
    `CREATE TABLE package_files (
      id TEXT PRIMARY KEY,
      version_id TEXT NOT NULL REFERENCES package_versions (id) ON DELETE CASCADE,
      package_id TEXT NOT NULL,
      owner_id TEXT NOT NULL,
      name TEXT NOT NULL,
      name_key TEXT NOT NULL,
      sha256 TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      sha1 TEXT,
      md5 TEXT,
      sha512 TEXT,
      media_type TEXT,
      metadata TEXT,
      downloads BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX package_files_name ON package_files (version_id, name_key)',
    'CREATE INDEX package_files_blob ON package_files (owner_id, sha256)',
    'CREATE INDEX package_files_package ON package_files (package_id, name_key)',
    `CREATE TABLE package_tags (
      package_id TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      version_id TEXT NOT NULL REFERENCES package_versions (id) ON DELETE CASCADE,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (package_id, name)
    )`,
    'CREATE INDEX package_tags_version ON package_tags (version_id)',
    `CREATE TABLE package_blobs (
      owner_id TEXT NOT NULL,
      sha256 TEXT NOT NULL,
      sha512 TEXT,
      bytes BIGINT NOT NULL,
      stored_at BIGINT NOT NULL,
      needed_at BIGINT NOT NULL,
      removing_at BIGINT,
      PRIMARY KEY (owner_id, sha256)
    )`,
    'CREATE INDEX package_blobs_sha512 ON package_blobs (owner_id, sha512) WHERE sha512 IS NOT NULL',
    'CREATE INDEX package_blobs_needed ON package_blobs (needed_at)',
    `CREATE TABLE package_blob_names (
      package_id TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
      sha256 TEXT NOT NULL,
      named_at BIGINT NOT NULL,
      PRIMARY KEY (package_id, sha256)
    )`,
    'CREATE INDEX package_blob_names_named ON package_blob_names (named_at)',
    `CREATE TABLE package_uploads (
      id TEXT PRIMARY KEY,
      package_id TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
      bytes BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    'CREATE INDEX package_uploads_package ON package_uploads (package_id)',
    'CREATE INDEX package_uploads_updated ON package_uploads (updated_at)',
    `CREATE TABLE package_upload_chunks (
      upload_id TEXT NOT NULL REFERENCES package_uploads (id) ON DELETE CASCADE,
      first_byte BIGINT NOT NULL,
      bytes BIGINT NOT NULL,
      sha256 TEXT NOT NULL,
      object_id TEXT NOT NULL,
      PRIMARY KEY (upload_id, first_byte)
    )`,
    'CREATE INDEX package_upload_chunks_object ON package_upload_chunks (object_id)',
    `CREATE TABLE package_usage (
      owner_id TEXT PRIMARY KEY,
      blobs BIGINT NOT NULL,
      bytes BIGINT NOT NULL
    )`,
    `CREATE TRIGGER package_versions_added AFTER INSERT ON package_versions WHEN NEW.deleted_at IS NULL BEGIN
      UPDATE packages SET versions = versions + 1 WHERE id = NEW.package_id; END`,
    `CREATE TRIGGER package_versions_removed AFTER DELETE ON package_versions WHEN OLD.deleted_at IS NULL BEGIN
      UPDATE packages SET versions = versions - 1 WHERE id = OLD.package_id; END`,
    `CREATE TRIGGER package_versions_trashed AFTER UPDATE OF deleted_at ON package_versions
     WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
      UPDATE packages SET versions = versions - 1 WHERE id = NEW.package_id; END`,
    `CREATE TRIGGER package_versions_restored AFTER UPDATE OF deleted_at ON package_versions
     WHEN OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL BEGIN
      UPDATE packages SET versions = versions + 1 WHERE id = NEW.package_id; END`,
    `CREATE TRIGGER package_usage_added AFTER INSERT ON package_blobs BEGIN
      INSERT INTO package_usage (owner_id, blobs, bytes) VALUES (NEW.owner_id, 1, NEW.bytes)
        ON CONFLICT (owner_id) DO UPDATE
          SET blobs = package_usage.blobs + 1, bytes = package_usage.bytes + excluded.bytes; END`,
    `CREATE TRIGGER package_usage_removed AFTER DELETE ON package_blobs BEGIN
      UPDATE package_usage SET blobs = blobs - 1, bytes = bytes - OLD.bytes WHERE owner_id = OLD.owner_id; END`,
  ],
};
