import type { Random } from '../../kernel/index.ts';
import { randomString } from '../random-string.ts';

/** Omits letters and digits that look alike: the password may be copied by hand. */
const alphabet = 'abcdefghijkmnpqrstuvwxyzACDEFGHJKLMNPQRTUVWXY34679';

/** A temporary password: four groups of five, about 112 bits. */
export function suggestPassword(random: Random): string {
  return Array.from({ length: 4 }, () => randomString(random, alphabet, 5)).join('-');
}
