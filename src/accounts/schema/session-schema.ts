import { EntitySchema } from 'typeorm';

/** A row of `sessions`: one signed-in browser. */
export interface SessionRow {
  /** Identifies the session in lists; it is no credential. */
  id: string;
  userId: string;
  /** SHA-256 of the secret in the cookie, hexadecimal. */
  tokenHash: string;
  createdAt: number;
  lastSeenAt: number;
  expiresAt: number;
  address: string;
  userAgent: string;
}

export const sessionSchema = new EntitySchema<SessionRow>({
  name: 'Session',
  tableName: 'sessions',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    tokenHash: { name: 'token_hash', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    lastSeenAt: { name: 'last_seen_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer' },
    address: { type: 'text' },
    userAgent: { name: 'user_agent', type: 'text' },
  },
});
