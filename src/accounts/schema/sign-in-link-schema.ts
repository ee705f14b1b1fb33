import { EntitySchema } from 'typeorm';

/** A row of `sign_in_links`: a one-time link that signs in its user. */
interface SignInLinkRow {
  /** SHA-256 of the secret in the link, hexadecimal. */
  tokenHash: string;
  userId: string;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
}

export const signInLinkSchema = new EntitySchema<SignInLinkRow>({
  name: 'SignInLink',
  tableName: 'sign_in_links',
  columns: {
    tokenHash: { name: 'token_hash', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer' },
    usedAt: { name: 'used_at', type: 'integer', nullable: true },
  },
});
