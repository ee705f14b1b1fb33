import { isDomainError } from '../kernel/index.ts';
import { maxHandleLength, parseHandle } from '../owners/index.ts';

/**
 * Makes a valid username from a claim: `José.García@example.org` becomes `Jose.Garcia`. Accents go, what stands between
 * letters and digits becomes one hyphen. @returns null when nothing valid is left
 */
export function suggestUsername(claim: string): string | null {
  const local = claim.split('@', 1)[0]!;
  const plain = local
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/[._-]*-[._-]*/g, '-')
    .replace(/([._-])[._-]+/g, '$1')
    .slice(0, maxHandleLength)
    .replace(/^[._-]+|[._-]+$/g, '');
  try {
    return parseHandle(plain).display;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return null;
  }
}
