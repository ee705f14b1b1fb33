import { prefixLength } from './row-buffer.ts';

/** Minimum length of a masked secret: shorter ones would mask half of every log. */
const shortestSecret = 4;

/** Masks secrets in rows before they are stored (security H06). */
export type Mask = (rows: Buffer) => Buffer;

/** Masks secrets literally, each line of a multi-line one, in base64 and percent-encoded. */
export function createMask(secrets: Iterable<string>): Mask {
  const hidden = [...new Set([...secrets].flatMap(spellings))].filter((text) => text.length >= shortestSecret);
  if (hidden.length === 0) return (rows) => rows;
  // Longest first, so that no part of a secret remains beside a shorter one.
  const pattern = new RegExp(
    hidden
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('|'),
    'g',
  );
  return (rows) => {
    const text = rows.toString('utf8');
    if (!pattern.test(text)) return rows;
    pattern.lastIndex = 0;
    return Buffer.from(text.replace(pattern, (found, offset: number) => (isInContent(text, offset) ? '***' : found)));
  };
}

/** A secret that looks like a date must not mask the times of rows. */
function isInContent(text: string, offset: number): boolean {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1) >= prefixLength;
}

function spellings(secret: string): string[] {
  const lines = secret
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= 2 * shortestSecret);
  const whole = secret.trim();
  const base64 = Buffer.from(secret).toString('base64');
  return [
    whole.replaceAll('\r\n', '\\n').replaceAll('\n', '\\n'),
    ...(lines.length > 1 ? lines : []),
    base64,
    base64.replace(/=+$/, ''),
    encodeURIComponent(whole.toWellFormed()),
  ];
}
