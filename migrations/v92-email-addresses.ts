import type { Migration } from '../src/db/index.ts';

/**
 * E-mail addresses of people, several each. Anyone may enter any address; only who has shown that it is theirs owns
 * it, so only verified ones are unique. `account_links` has the one-time links of mails and of `hearth user
 * reset-link`, by the hash of their secret; rows of the last hour are also what the limits of mails are counted from.
 * An invitation may be sent by mail: its mailed link has a secret of its own, because only that one shows who reads the
 * mailbox.
 */
export const emailAddresses: Migration = {
  version: 92,
  name: 'EmailAddresses',
  statements: [
    `CREATE TABLE email_addresses (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      address TEXT NOT NULL,
      address_key TEXT NOT NULL,
      is_primary INTEGER NOT NULL DEFAULT 0,
      is_public INTEGER NOT NULL DEFAULT 0,
      verified_at BIGINT,
      created_at BIGINT NOT NULL,
      CONSTRAINT email_addresses_primary_verified CHECK (is_primary = 0 OR verified_at IS NOT NULL)
    )`,
    'CREATE UNIQUE INDEX email_addresses_user_key ON email_addresses (user_id, address_key)',
    'CREATE UNIQUE INDEX email_addresses_verified ON email_addresses (address_key) WHERE verified_at IS NOT NULL',
    'CREATE UNIQUE INDEX email_addresses_primary ON email_addresses (user_id) WHERE is_primary = 1',

    `CREATE TABLE account_links (
      token_hash TEXT PRIMARY KEY NOT NULL,
      purpose TEXT NOT NULL CONSTRAINT account_links_purpose CHECK (purpose IN ('verify', 'reset')),
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      address_key TEXT,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      used_at BIGINT
    )`,
    'CREATE INDEX account_links_user ON account_links (user_id, created_at)',
    'CREATE INDEX account_links_address ON account_links (address_key, created_at)',
    'CREATE INDEX account_links_expiry ON account_links (expires_at)',

    'ALTER TABLE invites ADD COLUMN address TEXT',
    'ALTER TABLE invites ADD COLUMN mailed_token_hash TEXT',
    'ALTER TABLE invites ADD COLUMN mailed_at BIGINT',
    'ALTER TABLE invites ADD COLUMN organisation_id TEXT REFERENCES organisations (id) ON DELETE SET NULL',
    `ALTER TABLE invites ADD COLUMN organisation_role TEXT
      CONSTRAINT invites_organisation_role CHECK (organisation_role IN ('GUEST', 'MEMBER', 'OWNER'))`,
    'CREATE UNIQUE INDEX invites_mailed_token_hash ON invites (mailed_token_hash) WHERE mailed_token_hash IS NOT NULL',
    'CREATE INDEX invites_organisation ON invites (organisation_id) WHERE organisation_id IS NOT NULL',
  ],
};
