import { createHash } from 'node:crypto';
import type { Random } from '../kernel/index.ts';

/** A secret of 256 bits in 43 characters that need no escaping in a cookie or a link. */
export function newSecret(random: Random): string {
  return random.bytes(32).toString('base64url');
}

const shape = /^[A-Za-z0-9_-]{43}$/;

/** Whether a text could be one of `newSecret`'s; whatever else comes needs no look into the database. */
export function looksLikeSecret(text: unknown): text is string {
  return typeof text === 'string' && shape.test(text);
}

/**
 * What the database keeps of a secret. A plain SHA-256 is enough, because the
 * secrets are random and long: nobody can try them out, as they could passwords.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
