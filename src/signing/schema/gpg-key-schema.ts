import { EntitySchema } from 'typeorm';

/** A key or subkey that can sign. */
export interface GpgKeyPart {
  /** 16 upper-case hex digits, as GnuPG prints it. */
  keyId: string;
  /** 40 hex digits, or 64 for a version 6 key. */
  fingerprint: string;
}

/** A row of `gpg_keys`: an OpenPGP public key of a user. Everything except the owner is computed from the key. */
export interface GpgKeyRow extends GpgKeyPart {
  id: string;
  userId: string;
  /** Common name: `RSA 4096`, `Ed25519`. */
  algorithm: string;
  /** User ids that the key certifies and has not revoked. */
  userIds: string[];
  /** E-mail addresses in these user ids. */
  addresses: string[];
  /** Subkeys that can sign; empty if only the primary key can. */
  subkeys: GpgKeyPart[];
  /** The armored key without signatures of other people. */
  armored: string;
  keyCreatedAt: number;
  expiresAt: number | null;
  revoked: boolean;
  createdAt: number;
  /** When the user last submitted a copy: with a new expiry, subkey or revocation. */
  updatedAt: number;
}

export const gpgKeySchema = new EntitySchema<GpgKeyRow>({
  name: 'GpgKey',
  tableName: 'gpg_keys',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    fingerprint: { type: 'text' },
    keyId: { name: 'key_id', type: 'text' },
    algorithm: { type: 'text' },
    userIds: { name: 'user_ids', type: 'simple-json' },
    addresses: { type: 'simple-json' },
    subkeys: { type: 'simple-json' },
    armored: { type: 'text' },
    keyCreatedAt: { name: 'key_created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer', nullable: true },
    revoked: { type: 'boolean' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

/** A row of `gpg_key_parts`: maps the key id of a signature to possible keys. */
interface GpgKeyPartRow extends GpgKeyPart {
  gpgKeyId: string;
}

export const gpgKeyPartSchema = new EntitySchema<GpgKeyPartRow>({
  name: 'GpgKeyPart',
  tableName: 'gpg_key_parts',
  columns: {
    keyId: { name: 'key_id', type: 'text', primary: true },
    gpgKeyId: { name: 'gpg_key_id', type: 'text', primary: true },
    fingerprint: { type: 'text', primary: true },
  },
});
