import { EntitySchema } from 'typeorm';

/** The proof of identity at sign-in; `link` is an administrator's one-time link. */
export type SignInMethod = 'password' | 'passkey' | 'provider' | 'link';

/** The second factor: a code of an authenticator app, a recovery code, or a passkey. */
export type SecondFactor = 'totp' | 'recovery' | 'passkey';

/** A row of `sessions`: one signed-in browser. */
export interface SessionRow {
  /** Identifies the session in lists; it is not a credential. */
  id: string;
  userId: string;
  /** SHA-256 of the secret in the cookie, hexadecimal. */
  tokenHash: string;
  createdAt: number;
  lastSeenAt: number;
  expiresAt: number;
  address: string;
  userAgent: string;
  method: SignInMethod;
  /** `null` if none was required. */
  factor: SecondFactor | null;
  /** Time when the user last proved their identity in this session, in milliseconds since the epoch. */
  confirmedAt: number;
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
    method: { type: 'text' },
    factor: { type: 'text', nullable: true },
    confirmedAt: { name: 'confirmed_at', type: 'integer' },
  },
});
