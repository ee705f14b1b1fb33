import { EntitySchema } from 'typeorm';

/** A row of `oauth_keys`: an RSA key that signs identity tokens. */
export interface OAuthKeyRow {
  /** The thumbprint of the public key (RFC 7638). */
  id: string;
  /** PKCS 8 in PEM, encrypted. */
  privateKey: string;
  createdAt: number;
  /** It signs no more, and is published until a day later. */
  retiredAt: number | null;
}

export const oauthKeySchema = new EntitySchema<OAuthKeyRow>({
  name: 'OAuthKey',
  tableName: 'oauth_keys',
  columns: {
    id: { type: 'text', primary: true },
    privateKey: { name: 'private_key', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    retiredAt: { name: 'retired_at', type: 'integer', nullable: true },
  },
});
