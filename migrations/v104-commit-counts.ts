import type { Migration } from '../src/db/index.ts';

/**
 * Commits of the last year on the default branch of each repository, by author and day, for profiles. An author is the
 * key of an address, verified or not: commits count as soon as their address is verified. For
 * a no-reply address it is `person:<id>`.
 */
export const commitCounts: Migration = {
  version: 104,
  name: 'Commit counts',
  statements: [
    `CREATE TABLE commit_counts (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      author_key TEXT NOT NULL,
      day BIGINT NOT NULL,
      commits BIGINT NOT NULL,
      PRIMARY KEY (repository_id, author_key, day)
    )`,
    'CREATE INDEX commit_counts_author ON commit_counts (author_key, day, repository_id, commits)',
    'CREATE INDEX commit_counts_day ON commit_counts (repository_id, day)',
    `CREATE TABLE counted_commits (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      commit_id TEXT
    )`,
  ],
};
