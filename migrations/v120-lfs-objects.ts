import type { Migration } from '../src/db/index.ts';

/**
 * Objects of Git LFS, one row for each repository that has one. `shared` is set for a link to an object of another
 * repository, which takes no space of its own. `removing_at` is set while the file is being removed: such a row counts
 * as absent, and keeps an upload from writing its own until the file is gone. `lfs_repositories` has the sums of a
 * repository, which triggers keep, its switch, and how the last scan for unreferenced objects went.
 */
export const lfsObjects: Migration = {
  version: 120,
  name: 'LFS objects',
  statements: [
    `CREATE TABLE lfs_objects (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      oid TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      shared INTEGER NOT NULL DEFAULT 0,
      uploader_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      arrived_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL,
      unreferenced_since BIGINT,
      removing_at BIGINT,
      PRIMARY KEY (repository_id, oid)
    )`,
    `CREATE INDEX lfs_objects_uploader ON lfs_objects (uploader_id, repository_id) WHERE uploader_id IS NOT NULL`,
    `CREATE INDEX lfs_objects_unreferenced ON lfs_objects (repository_id, unreferenced_since)
      WHERE unreferenced_since IS NOT NULL`,
    `CREATE INDEX lfs_objects_removing ON lfs_objects (removing_at) WHERE removing_at IS NOT NULL`,
    `CREATE TABLE lfs_repositories (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      is_enabled INTEGER NOT NULL DEFAULT 1,
      objects BIGINT NOT NULL DEFAULT 0,
      bytes BIGINT NOT NULL DEFAULT 0,
      shared_bytes BIGINT NOT NULL DEFAULT 0,
      scanned_at BIGINT,
      scan_error TEXT
    )`,
    `CREATE TRIGGER lfs_objects_added AFTER INSERT ON lfs_objects BEGIN
      INSERT INTO lfs_repositories (repository_id, objects, bytes, shared_bytes)
        VALUES (NEW.repository_id, 1, CASE WHEN NEW.shared = 0 THEN NEW.bytes ELSE 0 END,
          CASE WHEN NEW.shared = 1 THEN NEW.bytes ELSE 0 END)
        ON CONFLICT (repository_id) DO UPDATE SET objects = lfs_repositories.objects + excluded.objects,
          bytes = lfs_repositories.bytes + excluded.bytes,
          shared_bytes = lfs_repositories.shared_bytes + excluded.shared_bytes;
      UPDATE counts SET value = value + 1 WHERE name = 'lfs_objects';
      UPDATE counts SET value = value + NEW.bytes WHERE name = 'lfs_bytes' AND NEW.shared = 0; END`,
    `CREATE TRIGGER lfs_objects_removed AFTER DELETE ON lfs_objects BEGIN
      UPDATE lfs_repositories SET objects = objects - 1,
          bytes = bytes - CASE WHEN OLD.shared = 0 THEN OLD.bytes ELSE 0 END,
          shared_bytes = shared_bytes - CASE WHEN OLD.shared = 1 THEN OLD.bytes ELSE 0 END
        WHERE repository_id = OLD.repository_id;
      UPDATE counts SET value = value - 1 WHERE name = 'lfs_objects';
      UPDATE counts SET value = value - OLD.bytes WHERE name = 'lfs_bytes' AND OLD.shared = 0; END`,
    `INSERT INTO counts (name, value) VALUES ('lfs_objects', 0), ('lfs_bytes', 0)`,
  ],
};
