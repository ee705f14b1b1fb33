import { EntitySchema } from 'typeorm';

/** A row of `setup_tokens`: a link for creating the first administrator. */
interface SetupTokenRow {
  /** SHA-256 of the token, hexadecimal. */
  tokenHash: string;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
}

export const setupTokenSchema = new EntitySchema<SetupTokenRow>({
  name: 'SetupToken',
  tableName: 'setup_tokens',
  columns: {
    tokenHash: { name: 'token_hash', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer' },
    usedAt: { name: 'used_at', type: 'integer', nullable: true },
  },
});
