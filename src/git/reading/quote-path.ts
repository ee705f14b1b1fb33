const escapes: Readonly<Record<number, string>> = {
  0x07: '\\a', 0x08: '\\b', 0x09: '\\t', 0x0a: '\\n', 0x0b: '\\v', 0x0c: '\\f', 0x0d: '\\r', 0x22: '\\"', 0x5c: '\\\\',
};

/** A path with its prefix the way git writes it into the head of a patch (`core.quotePath`). */
export function quotePath(prefix: string, path: Buffer): string {
  let quoted = '';
  let isPlain = true;
  for (const byte of path) {
    const isOdd = byte < 0x20 || byte >= 0x7f || byte === 0x22 || byte === 0x5c;
    if (isOdd) isPlain = false;
    quoted += isOdd ? escapes[byte] ?? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte);
  }
  return isPlain ? prefix + quoted : `"${prefix}${quoted}"`;
}
