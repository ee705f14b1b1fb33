import type { Migration } from '../src/db/index.ts';

/** Users who follow organisations of this server, and what is opened and merged in the order of time. */
export const activityOfFollows: Migration = {
  version: 311,
  name: 'Activity of follows',
  statements: [
    `CREATE TABLE organisation_follows (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      organisation_id TEXT NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, organisation_id)
    )`,
    'CREATE INDEX organisation_follows_organisation ON organisation_follows (organisation_id, created_at, user_id)',
    `CREATE INDEX issues_opened ON issues (repository_id, created_at, id)
      WHERE deleted_at IS NULL AND held_at IS NULL`,
    `CREATE INDEX pulls_merged_at ON pulls (repository_id, merged_at, issue_id) WHERE merged_at IS NOT NULL`,
  ],
};
