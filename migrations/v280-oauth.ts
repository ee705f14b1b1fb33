import type { Migration } from '../src/db/index.ts';

/** Applications that sign people in here or act for them, what they were given, and keys of their identity tokens. */
export const oauth: Migration = {
  version: 280,
  name: 'OAuth applications',
  statements: [
    `CREATE TABLE oauth_applications (
      id TEXT PRIMARY KEY NOT NULL,
      client_id TEXT NOT NULL,
      user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
      organisation_id TEXT REFERENCES organisations (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      secret_hash TEXT,
      secret_ending TEXT,
      redirect_uris TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      CONSTRAINT oauth_applications_client_id UNIQUE (client_id),
      CONSTRAINT oauth_applications_owner CHECK (user_id IS NULL OR organisation_id IS NULL)
    )`,
    'CREATE INDEX oauth_applications_user ON oauth_applications (user_id, created_at, id)',
    'CREATE INDEX oauth_applications_organisation ON oauth_applications (organisation_id, created_at, id)',
    `CREATE TABLE oauth_records (
      key_hash TEXT PRIMARY KEY NOT NULL,
      kind TEXT NOT NULL,
      client_id TEXT,
      user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
      grant_id TEXT,
      uid TEXT,
      user_code TEXT,
      sealed_key TEXT,
      payload TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT,
      consumed_at BIGINT
    )`,
    'CREATE INDEX oauth_records_grant ON oauth_records (grant_id)',
    'CREATE INDEX oauth_records_user ON oauth_records (user_id, kind, client_id, created_at)',
    'CREATE INDEX oauth_records_age ON oauth_records (user_id, kind, created_at)',
    'CREATE INDEX oauth_records_client ON oauth_records (client_id)',
    'CREATE INDEX oauth_records_uid ON oauth_records (uid, kind)',
    'CREATE INDEX oauth_records_user_code ON oauth_records (user_code, kind)',
    'CREATE INDEX oauth_records_expires ON oauth_records (expires_at)',
    `CREATE TABLE oauth_keys (
      id TEXT PRIMARY KEY NOT NULL,
      private_key TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      retired_at BIGINT
    )`,
  ],
};
