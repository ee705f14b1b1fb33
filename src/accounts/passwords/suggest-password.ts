import type { Random } from '../../kernel/index.ts';
import { randomText } from '../random-text.ts';

/** No letters and digits that look alike: somebody may have to copy it by hand. */
const alphabet = 'abcdefghijkmnpqrstuvwxyzACDEFGHJKLMNPQRTUVWXY34679';

/** A password for somebody else to change: four groups of five, about 112 bits. */
export function suggestPassword(random: Random): string {
  return Array.from({ length: 4 }, () => randomText(random, alphabet, 5)).join('-');
}
