import type { Random } from '../kernel/index.ts';

/**
 * Random characters with uniform distribution: rejects bytes that would bias it.
 * @param alphabet 2–256 different ASCII characters
 */
export function randomString(random: Random, alphabet: string, length: number): string {
  const fairBytes = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(2 * length)) {
      if (byte < fairBytes && text.length < length) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}
