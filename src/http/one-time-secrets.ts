import type { Clock, Random } from '../kernel/index.ts';

/**
 * Secrets that a page shows exactly once. A form that creates a token responds with a redirect, and the page behind it
 * shows the token: until then the secret is in memory, under a random token that only its owner can redeem. A restart
 * loses it; then the person creates a new one.
 */
export interface OneTimeSecrets {
  /** Stores a secret for five minutes. @returns the token for the URL */
  store(ownerId: string, secret: OneTimeSecret): string;
  /** Returns the secret and deletes it; null for a token that is used, expired or another person's. */
  take(ownerId: string, token: string): OneTimeSecret | null;
}

export interface OneTimeSecret {
  /** What the secret belongs to, in the person's words. */
  name: string;
  value: string;
}

const ttlMs = 5 * 60 * 1000;
const maxStored = 1000;

export function createOneTimeSecrets({ clock, random }: { clock: Clock; random: Random }): OneTimeSecrets {
  const secrets = new Map<string, { ownerId: string; secret: OneTimeSecret; until: number }>();

  const removeExpired = (): void => {
    // Map keeps insertion order and all entries have the same TTL: the first ones are the oldest.
    for (const [token, { until }] of secrets) {
      if (until > clock.now() && secrets.size < maxStored) break;
      secrets.delete(token);
    }
  };

  return {
    store(ownerId, secret) {
      removeExpired();
      const token = random.bytes(16).toString('base64url');
      secrets.set(token, { ownerId, secret, until: clock.now() + ttlMs });
      return token;
    },
    take(ownerId, token) {
      removeExpired();
      const found = secrets.get(token);
      if (found?.ownerId !== ownerId) return null;
      secrets.delete(token);
      return found.secret;
    },
  };
}
