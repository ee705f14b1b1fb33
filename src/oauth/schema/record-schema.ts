import { EntitySchema } from 'typeorm';

/** A row of `oauth_records`: a grant, code, token or unfinished request, as the protocol library stores it. */
export interface RecordRow {
  /** SHA-256 of kind and key, hexadecimal: the key of a token is the token. */
  keyHash: string;
  kind: string;
  clientId: string | null;
  userId: string | null;
  grantId: string | null;
  uid: string | null;
  userCode: string | null;
  /** The encrypted key of a device code, which is looked up by what the person types. */
  sealedKey: string | null;
  /** JSON. */
  payload: string;
  createdAt: number;
  expiresAt: number | null;
  consumedAt: number | null;
}

export const recordSchema = new EntitySchema<RecordRow>({
  name: 'OAuthRecord',
  tableName: 'oauth_records',
  columns: {
    keyHash: { name: 'key_hash', type: 'text', primary: true },
    kind: { type: 'text' },
    clientId: { name: 'client_id', type: 'text', nullable: true },
    userId: { name: 'user_id', type: 'text', nullable: true },
    grantId: { name: 'grant_id', type: 'text', nullable: true },
    uid: { type: 'text', nullable: true },
    userCode: { name: 'user_code', type: 'text', nullable: true },
    sealedKey: { name: 'sealed_key', type: 'text', nullable: true },
    payload: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer', nullable: true },
    consumedAt: { name: 'consumed_at', type: 'integer', nullable: true },
  },
});
