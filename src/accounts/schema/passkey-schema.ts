import { EntitySchema } from 'typeorm';

/** A row of `passkeys`: a WebAuthn credential of a person. */
export interface PasskeyRow {
  /** Identifies it in lists. */
  id: string;
  userId: string;
  /** The id that the authenticator gave it, base64url. */
  credentialId: string;
  /** COSE key, base64url. */
  publicKey: string;
  /** Signatures so far, as far as the authenticator counts them; 0 otherwise. */
  counter: number;
  /** How browsers reach it, separated by commas. */
  transports: string;
  /** Whether the person's devices share it. */
  isSynced: boolean;
  name: string;
  createdAt: number;
  lastUsedAt: number | null;
}

export const passkeySchema = new EntitySchema<PasskeyRow>({
  name: 'Passkey',
  tableName: 'passkeys',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    credentialId: { name: 'credential_id', type: 'text' },
    publicKey: { name: 'public_key', type: 'text' },
    counter: { type: 'integer' },
    transports: { type: 'text' },
    isSynced: { name: 'is_synced', type: 'boolean' },
    name: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    lastUsedAt: { name: 'last_used_at', type: 'integer', nullable: true },
  },
});

/** A row of `used_passkey_challenges`: an answer to this challenge was accepted, and no other one is. */
interface UsedPasskeyChallengeRow {
  challengeHash: string;
  expiresAt: number;
}

export const usedPasskeyChallengeSchema = new EntitySchema<UsedPasskeyChallengeRow>({
  name: 'UsedPasskeyChallenge',
  tableName: 'used_passkey_challenges',
  columns: {
    challengeHash: { name: 'challenge_hash', type: 'text', primary: true },
    expiresAt: { name: 'expires_at', type: 'integer' },
  },
});
