import { createHash } from 'node:crypto';
import type { Random } from '../kernel/index.ts';

/** A secret of 256 bits in 43 characters that need no escaping in a cookie or a link. */
export function newSecret(random: Random): string {
  return random.bytes(32).toString('base64url');
}

const shape = /^[A-Za-z0-9_-]{43}$/;

/** Whether a text is formatted like a secret; others are rejected without a query. */
export function looksLikeSecret(text: unknown): text is string {
  return typeof text === 'string' && shape.test(text);
}

/**
 * The stored hash of a secret. A plain SHA-256 suffices, because secrets are long and random and, unlike passwords,
 * cannot be guessed.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
