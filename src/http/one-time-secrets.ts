import type { Random } from '../kernel/index.ts';
import type { OpenKeptValues } from '../nodes/index.ts';

/**
 * Secrets that a page shows exactly once. A form that creates a token redirects to a page that shows it: until then the
 * secret is stored under a random token that only its owner can redeem. A lost secret must be created again.
 */
export interface OneTimeSecrets {
  /** Stores a secret for five minutes. @returns the token for the URL */
  store(ownerId: string, secret: OneTimeSecret): Promise<string>;
  /** Returns the secret and deletes it; null if the token is used, expired or another user's. */
  take(ownerId: string, token: string): Promise<OneTimeSecret | null>;
}

interface OneTimeSecret {
  /** Name of the object that the secret belongs to, as chosen by the user. */
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
