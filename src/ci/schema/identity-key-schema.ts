import { EntitySchema } from 'typeorm';

/** A row of `ci_identity_keys`: an RSA key that signs identity tokens of jobs. */
export interface IdentityKeyRow {
  /** `kid`: the thumbprint of the public key (RFC 7638). */
  id: string;
  /** PKCS #8 in PEM, encrypted with the instance key. */
  privateKey: string;
  /** The public key as a JWK. */
  publicKey: { kty: string; n: string; e: string };
  createdAt: number;
  /** When a newer key replaced it; it stays published for one more day. */
  retiredAt: number | null;
}

export const identityKeySchema = new EntitySchema<IdentityKeyRow>({
  name: 'ciIdentityKey',
  tableName: 'ci_identity_keys',
  columns: {
    id: { type: 'text', primary: true },
    privateKey: { name: 'private_key', type: 'text' },
    publicKey: { name: 'public_key', type: 'simple-json' },
    createdAt: { name: 'created_at', type: 'integer' },
    retiredAt: { name: 'retired_at', type: 'integer', nullable: true },
  },
});
