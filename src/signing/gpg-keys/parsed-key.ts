import type { GpgKeyPart } from '../schema/gpg-key-schema.ts';

/** Reason why a text cannot be added as a key. */
export type KeyProblem =
  | 'unreadable'
  | 'private'
  | 'several'
  | 'too_large'
  | 'too_many_user_ids'
  | 'too_many_subkeys'
  | 'no_user_id'
  | 'weak'
  | 'cannot_sign';

/** Data of a public key, computed from and verified by its self-signatures. Times in milliseconds. */
export interface ParsedKey extends GpgKeyPart {
  armored: string;
  algorithm: string;
  userIds: string[];
  addresses: string[];
  /** The primary key if it can sign, and each subkey that can. */
  signers: GpgKeyPart[];
  createdAt: number;
  expiresAt: number | null;
  revoked: boolean;
}

export type ReadKeyResult = { ok: true; key: ParsedKey } | { ok: false; problem: KeyProblem };
