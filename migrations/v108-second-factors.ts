import type { Migration } from '../src/db/index.ts';

/**
 * Second factors of a sign-in: codes of an authenticator app (RFC 6238), passkeys (WebAuthn) and recovery codes.
 *
 * `users.second_factor_at` says since when a person has one, so that a sign-in without one asks no query more; it is
 * written together with the rows of `totp_secrets` and `passkeys`. `sign_in_challenges` has the sign-ins whose second
 * step is open, by the hash of the secret in the browser's cookie. `used_passkey_challenges` makes each answer of a
 * passkey work once. Sessions say how they were signed in, and when the person last proved who they are.
 */
export const secondFactors: Migration = {
  version: 108,
  name: 'SecondFactors',
  statements: [
    'ALTER TABLE users ADD COLUMN second_factor_at BIGINT',

    `ALTER TABLE sessions ADD COLUMN method TEXT NOT NULL DEFAULT 'password'
      CONSTRAINT sessions_method CHECK (method IN ('password', 'passkey', 'provider', 'link'))`,
    `ALTER TABLE sessions ADD COLUMN factor TEXT
      CONSTRAINT sessions_factor CHECK (factor IN ('totp', 'recovery', 'passkey'))`,
    'ALTER TABLE sessions ADD COLUMN confirmed_at BIGINT NOT NULL DEFAULT 0',
    'UPDATE sessions SET confirmed_at = created_at',

    `CREATE TABLE totp_secrets (
      user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      ciphertext TEXT NOT NULL,
      last_step BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      enabled_at BIGINT)`,

    `CREATE TABLE recovery_codes (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      code_hash TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      used_at BIGINT,
      PRIMARY KEY (user_id, code_hash))`,

    `CREATE TABLE passkeys (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      credential_id TEXT NOT NULL,
      public_key TEXT NOT NULL,
      counter BIGINT NOT NULL,
      transports TEXT NOT NULL,
      is_synced INTEGER NOT NULL,
      name TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      last_used_at BIGINT)`,
    'CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id)',
    'CREATE INDEX passkeys_user ON passkeys (user_id, created_at)',

    `CREATE TABLE sign_in_challenges (
      token_hash TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      method TEXT NOT NULL
        CONSTRAINT sign_in_challenges_method CHECK (method IN ('password', 'passkey', 'provider', 'link')),
      attempts INTEGER NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL)`,
    'CREATE INDEX sign_in_challenges_user ON sign_in_challenges (user_id, created_at)',
    'CREATE INDEX sign_in_challenges_expiry ON sign_in_challenges (expires_at)',

    `CREATE TABLE used_passkey_challenges (
      challenge_hash TEXT PRIMARY KEY NOT NULL,
      expires_at BIGINT NOT NULL)`,
    'CREATE INDEX used_passkey_challenges_expiry ON used_passkey_challenges (expires_at)',
  ],
};
