import { createHash } from 'node:crypto';
import { decrypt, encrypt } from '../sealing/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { Clock, Random } from '../kernel/index.ts';

/** What a person goes to a provider for: to sign in, to link an account, to confirm a dangerous act. */
type RequestPurpose = 'sign-in' | 'link' | 'confirm';

/** A request that is under way at a provider; it travels in a cookie of the browser that began it. */
export interface SignInRequest {
  /** The provider's name in the settings. */
  provider: string;
  purpose: RequestPurpose;
  /** Where to go afterwards, a path of this server. */
  next: string;
  /** The session that began it; null for signing in. */
  sessionId: string | null;
  /** As it was sent to the provider. */
  redirectUri: string;
  state: string;
  nonce: string;
  /** RFC 7636. */
  codeVerifier: string;
  expiresAt: number;
}

interface Sealer {
  key: InstanceKey;
  clock: Clock;
  random: Random;
}

/** Time to sign in at a provider, perhaps with a second factor there. */
export const requestTtlMs = 10 * 60_000;

const newSecret = (random: Random): string => random.bytes(32).toString('base64url');

export function newRequest(
  { clock, random }: Pick<Sealer, 'clock' | 'random'>,
  begun: Pick<SignInRequest, 'provider' | 'purpose' | 'next' | 'sessionId' | 'redirectUri'>,
): SignInRequest {
  return {
    ...begun,
    state: newSecret(random),
    nonce: newSecret(random),
    codeVerifier: newSecret(random),
    expiresAt: clock.now() + requestTtlMs,
  };
}

/** RFC 7636, section 4.2: S256. */
export const codeChallenge = (codeVerifier: string): string =>
  createHash('sha256').update(codeVerifier).digest('base64url');

/** Encrypts a value for a cookie, so that the browser that has it can neither read nor change it. */
export function encryptRequest({ key, random }: Sealer, use: string, value: { expiresAt: number }): string {
  return Buffer.from(encrypt(key.for(use), random, use, JSON.stringify(value)), 'base64').toString('base64url');
}

/** The value of `seal`; null when it was made for another use, changed, or has expired. */
export function decryptRequest<Value extends { expiresAt: number }>(
  { key, clock }: Sealer,
  use: string,
  sealed: string | null,
): Value | null {
  if (sealed === null || sealed.length > 8_192) return null;
  const text = decrypt(key.decrypting(use), use, Buffer.from(sealed, 'base64url').toString('base64'));
  const value = text === null ? null : (JSON.parse(text) as Value);
  return value === null || clock.now() >= value.expiresAt ? null : value;
}
