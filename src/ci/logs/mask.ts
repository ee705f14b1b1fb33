import { prefixLength } from '../log-storage/row-buffer.ts';

/** Minimum length of a masked secret: shorter ones would mask half of every log. */
const shortestSecret = 4;

/**
 * Invisible characters: escape sequences of terminals (ECMA-48 CSI and OSC), control characters except tab and line
 * feed, and formatting characters such as the zero-width space.
 */
const unseen =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[@-Z\\^_])|[\p{Cf}\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu;
const mayBeUnseen = /[\p{Cf}\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u;

/** Masks secrets in rows before they are stored (security H06). */
export type Mask = (rows: Buffer) => Buffer;

/** Minimum length of secrets that are also masked in upper and lower case: shorter ones may be words. */
const shortestInOtherCase = 8;

/**
 * Masks secrets literally, in upper and lower case, line by line, percent-encoded, and in base64, also within longer
 * base64; invisible characters inside a secret are ignored. Does not recognise secrets split over two rows, which are
 * stored one by one, or in other mixed case.
 */
export function createMask(secrets: Iterable<string>): Mask {
  const hidden = [...new Set([...secrets].flatMap(spellings))].filter((text) => text.length >= shortestSecret);
  if (hidden.length === 0) return (rows) => rows;
  // Longest first, so that no part of a secret remains next to a shorter one.
  const pattern = new RegExp(
    hidden
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('|'),
    'g',
  );
  return (rows) => {
    const text = rows.toString('utf8');
    // Pages omit these characters, so a secret that contains one would be readable there.
    const plain = mayBeUnseen.test(text) ? withoutUnseen(text) : { text, offsets: null };
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

/** The text without invisible characters, and the original offset of each remaining one. */
function withoutUnseen(text: string): { text: string; offsets: number[] } {
  const offsets: number[] = [];
  const parts: string[] = [];
  let from = 0;
  const keep = (to: number) => {
    parts.push(text.slice(from, to));
    for (let at = from; at < to; at += 1) offsets.push(at);
  };
  for (const { index, 0: skipped } of text.matchAll(unseen)) {
    keep(index);
    from = index + skipped.length;
  }
  keep(text.length);
  return { text: parts.join(''), offsets };
}

/** A secret that looks like a date must not mask the timestamps of rows. */
function isInContent(text: string, offset: number): boolean {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1) >= prefixLength;
}

function spellings(secret: string): string[] {
  const lines = secret
    .split(/\r?\n/)
    .map((line) => line.replace(unseen, '').trim())
    .filter((line) => line.length >= 2 * shortestSecret);
  const whole = secret.replace(unseen, '').trim();
  const literal = [whole.replaceAll('\r\n', '\\n').replaceAll('\n', '\\n'), ...(lines.length > 1 ? lines : [])];
  return [
    ...literal,
    ...literal
      .filter((text) => text.length >= shortestInOtherCase)
      .flatMap((text) => [text.toLowerCase(), text.toUpperCase()]),
    ...inBase64(secret),
    encodeURIComponent(whole.toWellFormed()),
  ];
}

/** Minimum length of a masked part of base64: shorter ones may be anything. */
const shortestInBase64 = 8;

/**
 * The base64 forms of a secret: alone, and within a longer text, where it starts at one of three offsets within a group
 * and its neighbours change the characters at its ends. Covers both alphabets (RFC 4648 sections 4 and 5).
 */
function inBase64(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const whole = bytes.toString('base64');
  const inside = [0, 1, 2]
    .map((offset) => {
      const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
      return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    })
    .filter((text) => text.length >= shortestInBase64);
  return [whole, whole.replace(/=+$/, ''), ...inside].flatMap((text) => [
    text,
    text.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}
