import { EntitySchema } from 'typeorm';

/** A row of `passkeys`: a WebAuthn credential of a user. */
export interface PasskeyRow {
  /** Identifies it in lists. */
  id: string;
  userId: string;
  /** The id assigned by the authenticator, base64url. */
  credentialId: string;
  /** COSE key, base64url. */
  publicKey: string;
  /** The authenticator's signature counter; 0 if it does not count. */
  counter: number;
  /** Transports by which browsers reach it, comma-separated. */
  transports: string;
  /** Whether it is synced between the user's devices. */
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

/** A row of `used_passkey_challenges`: a challenge whose response was accepted; no other response is. */
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
