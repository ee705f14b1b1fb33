import type { Random } from '../kernel/index.ts';
import type { OpenKeptValues } from '../nodes/index.ts';

/**
 * Secrets that a page shows exactly once. A form that creates a token responds with a redirect, and the page behind it
 * shows the token: until then the secret is kept under a random token that only its owner can redeem. What is lost is
 * created anew.
 */
export interface OneTimeSecrets {
  /** Stores a secret for five minutes. @returns the token for the URL */
  store(ownerId: string, secret: OneTimeSecret): Promise<string>;
  /** Returns the secret and deletes it; null for a token that is used, expired or another person's. */
  take(ownerId: string, token: string): Promise<OneTimeSecret | null>;
}

interface OneTimeSecret {
  /** What the secret belongs to, in the person's words. */
  name: string;
  value: string;
}

interface Deps {
  random: Random;
  openKeptValues: OpenKeptValues;
}

const ttlMs = 5 * 60 * 1000;
const most = { values: 1000, characters: 1024 * 1024 };
const tokenBytes = 16;

export function createOneTimeSecrets({ random, openKeptValues }: Deps): OneTimeSecrets {
  const secrets = openKeptValues({ kind: 'secret', ttlMs, most });
  return {
    async store(ownerId, secret) {
      const token = random.bytes(tokenBytes).toString('base64url');
      await secrets.keep(`${ownerId} ${token}`, JSON.stringify(secret));
      return token;
    },
    async take(ownerId, token) {
      const found = await secrets.take(`${ownerId} ${token}`);
      return found === null ? null : (JSON.parse(found) as OneTimeSecret);
    },
  };
}
