import { EntitySchema } from 'typeorm';
import type { SignInMethod } from './session-schema.ts';

/** A row of `sign_in_challenges`: a sign-in that waits for its second factor. */
export interface SignInChallengeRow {
  /** SHA-256 of the secret in the cookie, hexadecimal. */
  tokenHash: string;
  userId: string;
  method: SignInMethod;
  /** Number of attempts, right or wrong. */
  attempts: number;
  createdAt: number;
  expiresAt: number;
}

export const signInChallengeSchema = new EntitySchema<SignInChallengeRow>({
  name: 'SignInChallenge',
  tableName: 'sign_in_challenges',
  columns: {
    tokenHash: { name: 'token_hash', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    method: { type: 'text' },
    attempts: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer' },
  },
});
