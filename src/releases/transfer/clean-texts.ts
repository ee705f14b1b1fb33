import { limits } from '../limits.ts';

const cutMark = '\n\n…';

/**
 * Cleans the notes of a release from another forge: replaces control characters and truncates. Spaces at the ends stay:
 * in Markdown they can begin code.
 */
export function cleanNotes(text: string): string {
  const clean = text
    .slice(0, limits.bodyBytes)
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .normalize('NFC')
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');
  if (text.length <= limits.bodyBytes && Buffer.byteLength(clean) <= limits.bodyBytes) return clean;
  return `${cutBytes(clean, limits.bodyBytes - Buffer.byteLength(cutMark))}${cutMark}`;
}

/** Replaces what `parseFileName` rejects in a file name. */
export function cleanFileName(text: string): string {
  const clean = text
    .slice(0, 1_000)
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\:*?"<>|]+/gu, '_')
    .trim()
    .replace(/^\.+/, '');
  return cutBytes(clean, limits.fileNameBytes).trim().replace(/\.+$/, '') || 'file';
}

/** Truncates a text to a number of bytes, without a partial character at the end. */
function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes
    ? text
    : new TextDecoder('utf-8').decode(bytes.subarray(0, maxBytes), { stream: true });
}
