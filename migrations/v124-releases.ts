import type { Migration } from '../src/db/index.ts';

const count = (what: string, row: string): string =>
  what === 'drafts'
    ? `CASE WHEN ${row}.is_draft = 1 THEN 1 ELSE 0 END`
    : `CASE WHEN ${row}.is_draft = 1 THEN 0 ELSE 1 END`;

/**
 * Releases, each of one tag, and their files. `tag_oid` is what the tag named when the release was published: a tag
 * that moves shows. A draft has the start and the message of the tag that publishing it makes.
 */
export const releases: Migration = {
  version: 124,
  name: 'Releases',
  statements: [
    `CREATE TABLE releases (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      tag TEXT NOT NULL,
      tag_oid TEXT,
      target TEXT NOT NULL,
      tag_message TEXT NOT NULL,
      title TEXT NOT NULL,
      body TEXT NOT NULL,
      is_draft INTEGER NOT NULL,
      is_prerelease INTEGER NOT NULL,
      author_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      author_name TEXT,
      revision BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      published_at BIGINT,
      listed_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX releases_tag ON releases (repository_id, tag)',
    'CREATE INDEX releases_all ON releases (repository_id, listed_at, id)',
    'CREATE INDEX releases_published ON releases (repository_id, listed_at, id) WHERE is_draft = 0',
    `CREATE INDEX releases_latest ON releases (repository_id, listed_at, id)
      WHERE is_draft = 0 AND is_prerelease = 0`,
    'CREATE INDEX releases_author ON releases (author_id) WHERE author_id IS NOT NULL',
    // With the repository, because the files of a release that is deleted go after its row.
    `CREATE TABLE release_files (
      id TEXT PRIMARY KEY NOT NULL,
      release_id TEXT NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      sha256 TEXT NOT NULL,
      downloads BIGINT NOT NULL,
      uploader_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX release_files_name ON release_files (release_id, name)',
    'CREATE INDEX release_files_repository ON release_files (repository_id)',
    'CREATE INDEX release_files_uploader ON release_files (uploader_id) WHERE uploader_id IS NOT NULL',
    `CREATE TABLE release_counts (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      published BIGINT NOT NULL,
      drafts BIGINT NOT NULL,
      bytes BIGINT NOT NULL
    )`,
    `CREATE TRIGGER release_counts_added AFTER INSERT ON releases BEGIN
      INSERT INTO release_counts (repository_id, published, drafts, bytes)
        VALUES (NEW.repository_id, ${count('published', 'NEW')}, ${count('drafts', 'NEW')}, 0)
        ON CONFLICT (repository_id) DO UPDATE SET published = release_counts.published + excluded.published,
          drafts = release_counts.drafts + excluded.drafts; END`,
    `CREATE TRIGGER release_counts_removed AFTER DELETE ON releases BEGIN
      UPDATE release_counts SET published = published - ${count('published', 'OLD')}, drafts = drafts - ${count('drafts', 'OLD')}
        WHERE repository_id = OLD.repository_id; END`,
    `CREATE TRIGGER release_counts_changed AFTER UPDATE OF is_draft ON releases BEGIN
      UPDATE release_counts SET published = published - ${count('published', 'OLD')} + ${count('published', 'NEW')},
        drafts = drafts - ${count('drafts', 'OLD')} + ${count('drafts', 'NEW')}
        WHERE repository_id = NEW.repository_id; END`,
    `CREATE TRIGGER release_counts_file_added AFTER INSERT ON release_files BEGIN
      UPDATE release_counts SET bytes = bytes + NEW.bytes WHERE repository_id = NEW.repository_id; END`,
    `CREATE TRIGGER release_counts_file_removed AFTER DELETE ON release_files BEGIN
      UPDATE release_counts SET bytes = bytes - OLD.bytes WHERE repository_id = OLD.repository_id; END`,
  ],
};
