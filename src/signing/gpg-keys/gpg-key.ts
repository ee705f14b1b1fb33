import type { GpgKeyPart, GpgKeyRow } from '../schema/gpg-key-schema.ts';

/** An OpenPGP public key of an account. Times in milliseconds since the epoch. */
export interface GpgKey extends GpgKeyPart {
  id: string;
  personId: string;
  /** `RSA 4096`, `Ed25519` */
  algorithm: string;
  armored: string;
  /** User ids that the key certifies. */
  userIds: string[];
  /** E-mail addresses in these user ids. */
  addresses: string[];
  subkeys: GpgKeyPart[];
  keyCreatedAt: number;
  /** Null if it never expires. */
  expiresAt: number | null;
  revoked: boolean;
  createdAt: number;
  updatedAt: number;
}

export function toGpgKey({ userId: personId, ...rest }: GpgKeyRow): GpgKey {
  return { ...rest, personId };
}
