import type { Migration } from '../src/db/index.ts';

/** Lists of pages and of the API: what was deleted of a package, and its tags by time. */
export const packageLists: Migration = {
  version: 330,
  name: 'Lists of packages',
  statements: [
    'CREATE INDEX package_versions_trash ON package_versions (package_id, deleted_at) WHERE deleted_at IS NOT NULL',
    'CREATE INDEX packages_owner_format ON packages (owner_id, format, updated_at DESC, id)',
    'DROP INDEX package_versions_subject',
    `CREATE INDEX package_versions_subject ON package_versions (package_id, subject, created_at, id)
      WHERE subject IS NOT NULL`,
    'DROP INDEX package_tags_version',
    'CREATE INDEX package_tags_version ON package_tags (version_id, name)',
    'CREATE INDEX package_tags_updated ON package_tags (package_id, updated_at DESC, name)',
  ],
};
