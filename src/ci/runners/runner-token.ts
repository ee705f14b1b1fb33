import { createHash, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../kernel/index.ts';

/** The stored form of a runner's token. */
interface StoredToken {
  tokenSalt: string;
  tokenHash: string;
}

const digest = (salt: string, token: string): Buffer => createHash('sha256').update(`${salt}:${token}`).digest();

/** A new token, 20 random bytes in hex, and its stored form. */
export function newRunnerToken(random: Random): StoredToken & { token: string } {
  const token = random.bytes(20).toString('hex');
  return { token, ...storeToken(random, token) };
}

export function storeToken(random: Random, token: string): StoredToken {
  const tokenSalt = random.bytes(8).toString('hex');
  return { tokenSalt, tokenHash: digest(tokenSalt, token).toString('hex') };
}

/** Compares in constant time. */
export function isTokenOf({ tokenSalt, tokenHash }: StoredToken, token: string): boolean {
  return timingSafeEqual(digest(tokenSalt, token), Buffer.from(tokenHash, 'hex'));
}
