import type { Migration } from '../src/db/index.ts';

const inOnePlace = `(repository_id IS NULL OR organisation_id IS NULL)
  AND (user_id IS NULL OR (repository_id IS NULL AND organisation_id IS NULL))`;
const columns = `id, repository_id, organisation_id, url, secret_ciphertext, events, is_active, created_at, updated_at,
  kind, content_type, branch_filter, channel, authorization_ciphertext`;
const indexes = [
  'CREATE INDEX webhooks_user ON webhooks (user_id) WHERE user_id IS NOT NULL',
  `CREATE INDEX webhooks_server ON webhooks (repository_id, organisation_id, user_id)
    WHERE repository_id IS NULL AND organisation_id IS NULL AND user_id IS NULL`,
];

/** Webhooks of users, for all that they own, and of the whole server: of neither of the three places. */
export const ownerWebhooks: Migration = {
  version: 414,
  name: 'OwnerWebhooks',
  statements: [
    `CREATE TABLE webhooks_rebuilt (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT REFERENCES repositories (id) ON DELETE CASCADE,
      organisation_id TEXT REFERENCES organisations (id) ON DELETE CASCADE,
      url TEXT NOT NULL,
      secret_ciphertext TEXT,
      events TEXT NOT NULL,
      is_active INTEGER NOT NULL DEFAULT 1,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      kind TEXT NOT NULL DEFAULT 'gitea',
      content_type TEXT NOT NULL DEFAULT 'json',
      branch_filter TEXT NOT NULL DEFAULT '',
      channel TEXT NOT NULL DEFAULT '',
      authorization_ciphertext TEXT,
      user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
      CONSTRAINT webhooks_one_scope CHECK (${inOnePlace})
    )`,
    `INSERT INTO webhooks_rebuilt (${columns}) SELECT ${columns} FROM webhooks`,
    'DROP TABLE webhooks',
    'ALTER TABLE webhooks_rebuilt RENAME TO webhooks',
    'CREATE INDEX webhooks_repository ON webhooks (repository_id) WHERE repository_id IS NOT NULL',
    'CREATE INDEX webhooks_organisation ON webhooks (organisation_id) WHERE organisation_id IS NOT NULL',
    ...indexes,
  ],
  postgres: [
    'ALTER TABLE webhooks DROP CONSTRAINT webhooks_one_scope',
    'ALTER TABLE webhooks ADD COLUMN user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE',
    `ALTER TABLE webhooks ADD CONSTRAINT webhooks_one_scope CHECK (${inOnePlace})`,
    ...indexes,
  ],
};
