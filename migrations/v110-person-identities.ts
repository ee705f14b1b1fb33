import type { Migration } from '../src/db/index.ts';

/**
 * Sign-in at an OpenID Connect provider. `person_identities` has the accounts of providers that people sign in with: a
 * provider's account is its issuer and subject, whatever the provider is called here. `sign_in_links` has the links of
 * `hearth user sign-in-link`, by the hash of their secret. `mapped_by` is the issuer whose groups made a membership;
 * null for one that a person made.
 */
export const personIdentities: Migration = {
  version: 110,
  name: 'PersonIdentities',
  statements: [
    `CREATE TABLE person_identities (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      label TEXT NOT NULL DEFAULT '',
      created_at BIGINT NOT NULL,
      last_used_at BIGINT
    )`,
    'CREATE UNIQUE INDEX person_identities_subject ON person_identities (issuer, subject)',
    'CREATE INDEX person_identities_user ON person_identities (user_id, created_at)',

    `CREATE TABLE sign_in_links (
      token_hash TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      used_at BIGINT
    )`,
    'CREATE INDEX sign_in_links_user ON sign_in_links (user_id)',
    'CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at)',

    'ALTER TABLE organisation_members ADD COLUMN mapped_by TEXT',
  ],
};
