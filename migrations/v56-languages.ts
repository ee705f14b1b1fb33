import type { Migration } from '../src/db/index.ts';

/** The main language of each repository, for filtering. */
export const languages: Migration = {
  version: 56,
  name: 'Languages',
  statements: [
    `CREATE TABLE repository_languages (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      language TEXT NOT NULL,
      PRIMARY KEY (repository_id, position)
    ) WITHOUT ROWID`,
    `CREATE INDEX repository_languages_language ON repository_languages (language, repository_id)`,
    `CREATE TABLE language_counts (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      commit_id TEXT,
      counted_at INTEGER NOT NULL
    )`,
  ],
};
