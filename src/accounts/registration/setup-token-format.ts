import type { Random } from '../../kernel/index.ts';
import { randomString } from '../random-string.ts';

/** Crockford's base 32: no I, L, O or U, because people type this token. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const groups = 5;
const groupLength = 4;
const shape = new RegExp(`^[${alphabet}]{${groups * groupLength}}$`);

/** A new token such as `7Q2K-…`: five groups, 100 bits. */
export function newSetupToken(random: Random): string {
  return Array.from({ length: groups }, () => randomString(random, alphabet, groupLength)).join('-');
}

/**
 * The canonical spelling of a token as typed: any case, any dashes, `O` for `0`, `I` or `L` for `1`. `null` if the text
 * cannot be a token.
 */
export function normaliseSetupToken(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 64) return null;
  const plain = text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
  if (!shape.test(plain)) return null;
  return plain.replace(/.{4}(?=.)/g, '$&-');
}
