const escapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};

/** A path with its prefix as quoted by git in the head of a patch (`core.quotePath`). */
export function quotePath(prefix: string, path: Buffer): string {
  let quoted = '';
  let isPlain = true;
  for (const byte of path) {
    const isOdd = byte < 0x20 || byte >= 0x7f || byte === 0x22 || byte === 0x5c;
    if (isOdd) isPlain = false;
    quoted += isOdd ? (escapes[byte] ?? `\\${byte.toString(8).padStart(3, '0')}`) : String.fromCharCode(byte);
  }
  return isPlain ? prefix + quoted : `"${prefix}${quoted}"`;
}
