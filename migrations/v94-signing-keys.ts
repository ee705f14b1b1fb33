import type { Migration } from '../src/db/index.ts';

/**
 * Keys with which people sign commits, and the server's own.
 *
 * An SSH key that signs in identifies one account, so it is unique among such keys. A key that only signs may be
 * registered by several people: otherwise a person who registers the public key of another first would keep them from
 * using it. OpenPGP keys are unique per person for the same reason. `gpg_key_parts` has each key and subkey that may
 * sign, by the id that a signature names.
 */
export const signingKeys: Migration = {
  version: 94,
  name: 'SigningKeys',
  statements: [
    `ALTER TABLE ssh_keys ADD COLUMN uses TEXT NOT NULL DEFAULT 'authentication'
      CONSTRAINT ssh_keys_uses CHECK (uses IN ('authentication', 'signing', 'both'))`,
    'DROP INDEX ssh_keys_fingerprint',
    `CREATE UNIQUE INDEX ssh_keys_sign_in ON ssh_keys (fingerprint) WHERE uses <> 'signing'`,
    'CREATE UNIQUE INDEX ssh_keys_fingerprint_user ON ssh_keys (fingerprint, user_id)',
    `CREATE TABLE gpg_keys (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      fingerprint TEXT NOT NULL,
      key_id TEXT NOT NULL,
      algorithm TEXT NOT NULL,
      user_ids TEXT NOT NULL,
      addresses TEXT NOT NULL,
      subkeys TEXT NOT NULL,
      armored TEXT NOT NULL,
      key_created_at BIGINT NOT NULL,
      expires_at BIGINT,
      revoked INTEGER NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL)`,
    'CREATE UNIQUE INDEX gpg_keys_user ON gpg_keys (user_id, fingerprint)',
    `CREATE TABLE gpg_key_parts (
      key_id TEXT NOT NULL,
      gpg_key_id TEXT NOT NULL REFERENCES gpg_keys (id) ON DELETE CASCADE,
      fingerprint TEXT NOT NULL,
      PRIMARY KEY (key_id, gpg_key_id, fingerprint))`,
    'CREATE INDEX gpg_key_parts_key ON gpg_key_parts (gpg_key_id)',
    `CREATE TABLE instance_signing_keys (
      fingerprint TEXT PRIMARY KEY NOT NULL,
      blob_base64 TEXT NOT NULL,
      private_ciphertext TEXT,
      created_at BIGINT NOT NULL,
      retired_at BIGINT)`,
  ],
};
