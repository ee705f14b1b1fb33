import { prefixLength } from './row-buffer.ts';

/** Minimum length of a masked secret: shorter ones would mask half of every log. */
const shortestSecret = 4;

const escapeSequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g;

/** Masks secrets in rows before they are stored (security H06). */
export type Mask = (rows: Buffer) => Buffer;

/** From this length on a secret is masked in capitals and small letters, too: a shorter one may be a word. */
const shortestInOtherCase = 8;

/**
 * Masks secrets literally, in capitals and in small letters, each line of a multi-line one, in base64 and
 * percent-encoded; colour codes inside one do not matter. A value that is cut over two rows, or mixes cases in another
 * way, is not recognised: rows are stored one by one.
 */
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
    // The page removes colour codes, so a secret with one inside would be readable there.
    const plain = text.includes('\u001b') ? withoutEscapes(text) : { text, offsets: null };
    let masked = '';
    let end = 0;
    for (const { index, 0: found } of plain.text.matchAll(pattern)) {
      const at = plain.offsets?.[index] ?? index;
      const last = index + found.length - 1;
      if (!isInContent(text, at)) continue;
      masked += `${text.slice(end, at)}***`;
      end = (plain.offsets?.[last] ?? last) + 1;
    }
    return end === 0 ? rows : Buffer.from(masked + text.slice(end));
  };
}

/** The text without the escape sequences of terminals (ECMA-48 CSI and OSC), and where each character stood. */
function withoutEscapes(text: string): { text: string; offsets: number[] } {
  const offsets: number[] = [];
  const parts: string[] = [];
  let from = 0;
  const keep = (to: number) => {
    parts.push(text.slice(from, to));
    for (let at = from; at < to; at += 1) offsets.push(at);
  };
  for (const { index, 0: escape } of text.matchAll(escapeSequence)) {
    keep(index);
    from = index + escape.length;
  }
  keep(text.length);
  return { text: parts.join(''), offsets };
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
  const literal = [whole.replaceAll('\r\n', '\\n').replaceAll('\n', '\\n'), ...(lines.length > 1 ? lines : [])];
  const base64 = Buffer.from(secret).toString('base64');
  return [
    ...literal,
    ...literal
      .filter((text) => text.length >= shortestInOtherCase)
      .flatMap((text) => [text.toLowerCase(), text.toUpperCase()]),
    base64,
    base64.replace(/=+$/, ''),
    encodeURIComponent(whole.toWellFormed()),
  ];
}
