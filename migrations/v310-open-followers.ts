import type { Migration } from '../src/db/index.ts';

const key = 'ap_path, kind, owner_id, public_key_pem, private_key_pem, created_at';
const follower = `actor_id TEXT NOT NULL,
      inbox TEXT NOT NULL,
      host TEXT NOT NULL,
      follow_id TEXT NOT NULL,
      created_at BIGINT NOT NULL`;
const forgotten = (name: string, table: string, gone: string): string =>
  `CREATE TRIGGER ${name} AFTER DELETE ON ${gone} BEGIN DELETE FROM ${table} WHERE subject_id = OLD.id; END`;

/**
 * Followers from servers that nobody listed: actors of organisations, followers of users and organisations, requests
 * that wait for approval, and lists of blocked servers and actors.
 */
export const openFollowers: Migration = {
  version: 310,
  name: 'Open followers',
  statements: [
    `CREATE TABLE federation_keys_of_all_kinds (
      ap_path TEXT PRIMARY KEY NOT NULL,
      kind TEXT NOT NULL CONSTRAINT federation_keys_kind CHECK (kind IN ('repository', 'user', 'organisation', 'instance')),
      owner_id TEXT NOT NULL,
      public_key_pem TEXT NOT NULL,
      private_key_pem TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    `INSERT INTO federation_keys_of_all_kinds (${key}) SELECT ${key} FROM federation_keys`,
    'DROP TABLE federation_keys',
    'ALTER TABLE federation_keys_of_all_kinds RENAME TO federation_keys',
    'CREATE UNIQUE INDEX federation_keys_owner ON federation_keys (kind, owner_id)',
    'CREATE INDEX federation_keys_created ON federation_keys (created_at, ap_path)',

    // The id of a user or of an organisation.
    `CREATE TABLE owner_followers (
      subject_id TEXT NOT NULL,
      ${follower},
      PRIMARY KEY (subject_id, actor_id)
    )`,
    'CREATE INDEX owner_followers_actor ON owner_followers (actor_id)',
    'CREATE INDEX owner_followers_host ON owner_followers (host)',
    'CREATE INDEX owner_followers_recent ON owner_followers (subject_id, created_at, actor_id)',
    forgotten('owner_followers_user', 'owner_followers', 'users'),
    forgotten('owner_followers_organisation', 'owner_followers', 'organisations'),

    // The id of a repository, a user or an organisation.
    `CREATE TABLE follow_requests (
      subject_id TEXT NOT NULL,
      ${follower},
      PRIMARY KEY (subject_id, actor_id)
    )`,
    'CREATE INDEX follow_requests_actor ON follow_requests (actor_id)',
    'CREATE INDEX follow_requests_host ON follow_requests (host)',
    'CREATE INDEX follow_requests_recent ON follow_requests (subject_id, created_at, actor_id)',
    forgotten('follow_requests_repository', 'follow_requests', 'repositories'),
    forgotten('follow_requests_user', 'follow_requests', 'users'),
    forgotten('follow_requests_organisation', 'follow_requests', 'organisations'),

    `CREATE TABLE follow_approvals (
      subject_id TEXT PRIMARY KEY NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    forgotten('follow_approvals_repository', 'follow_approvals', 'repositories'),
    forgotten('follow_approvals_user', 'follow_approvals', 'users'),
    forgotten('follow_approvals_organisation', 'follow_approvals', 'organisations'),

    `CREATE TABLE federation_blocks (
      kind TEXT NOT NULL CONSTRAINT federation_blocks_kind CHECK (kind IN ('host', 'actor')),
      value TEXT NOT NULL,
      reason TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (kind, value)
    )`,

    'ALTER TABLE federation_peers ADD COLUMN open_at BIGINT',
  ],
};
