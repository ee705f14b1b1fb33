import { createHash, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../kernel/index.ts';

/** What the database keeps of a runner's token. */
export interface KeptToken {
  tokenSalt: string;
  tokenHash: string;
}

const digest = (salt: string, token: string): Buffer => createHash('sha256').update(`${salt}:${token}`).digest();

/** A new token, 20 random bytes in hex, and what to keep of it. */
export function newRunnerToken(random: Random): KeptToken & { token: string } {
  const token = random.bytes(20).toString('hex');
  return { token, ...keepToken(random, token) };
}

export function keepToken(random: Random, token: string): KeptToken {
  const tokenSalt = random.bytes(8).toString('hex');
  return { tokenSalt, tokenHash: digest(tokenSalt, token).toString('hex') };
}

/** Compares in constant time. */
export function isTokenOf({ tokenSalt, tokenHash }: KeptToken, token: string): boolean {
  return timingSafeEqual(digest(tokenSalt, token), Buffer.from(tokenHash, 'hex'));
}
