import { crc32 } from 'node:zlib';
import type { Random } from '../../kernel/index.ts';
import { randomString } from '../random-string.ts';

/**
 * The format of an access token: `hth_`, 32 random characters, 6 of checksum. The prefix lets secret scanners find a
 * leaked one; the checksum lets the server reject truncated or foreign text without a query.
 */
const prefix = 'hth_';
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 32;
const checksumLength = 6;
const shape = /^hth_[0-9A-Za-z]{38}$/;

/** The CRC-32 of the preceding text in base 62, most significant digit first, padded with zeros. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let count = 0; count < checksumLength; count += 1) {
    digits = base62[rest % base62.length] + digits;
    rest = Math.floor(rest / base62.length);
  }
  return digits;
}

/** A new token with about 190 bits of randomness. */
export function newAccessToken(random: Random): string {
  const start = prefix + randomString(random, base62, randomLength);
  return start + checksum(start);
}

/** Whether a text is formatted like a token, including its checksum. */
export function looksLikeAccessToken(text: unknown): text is string {
  if (typeof text !== 'string' || !shape.test(text)) return false;
  return checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}
