import { EntitySchema } from 'typeorm';

export type LinkPurpose = 'verify' | 'reset';

/** A row of `account_links`: a one-time link of an account. */
export interface OneTimeLinkRow {
  /** SHA-256 of the secret in the link, hexadecimal. */
  tokenHash: string;
  purpose: LinkPurpose;
  userId: string;
  /** The address that it was sent to, in the form for comparison; `null` if handed out by an administrator. */
  addressKey: string | null;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
}

export const oneTimeLinkSchema = new EntitySchema<OneTimeLinkRow>({
  name: 'AccountLink',
  tableName: 'account_links',
  columns: {
    tokenHash: { name: 'token_hash', type: 'text', primary: true },
    purpose: { type: 'text' },
    userId: { name: 'user_id', type: 'text' },
    addressKey: { name: 'address_key', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer' },
    usedAt: { name: 'used_at', type: 'integer', nullable: true },
  },
});
