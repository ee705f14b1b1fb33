/**
 * File paths as text. A UTF-8 path is itself. Any other path, and one that starts with a quotation mark, is quoted as
 * git does with `core.quotePath`, with octal numbers for bytes, so that each path has exactly one text.
 */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function pathText(path: Buffer): string {
  const text = decoded(path);
  if (text !== null && !text.startsWith('"')) return text;
  let quoted = '';
  for (const byte of path) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    quoted += isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `"${quoted}"`;
}

/** The bytes of a path encoded by `pathText`; for any other text, its UTF-8. */
export function pathBytes(text: string): Buffer {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return Buffer.from(text);
  const bytes = text
    .slice(1, -1)
    .replace(/\\([0-3][0-7]{2})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return Buffer.from(bytes, 'latin1');
}

function decoded(path: Buffer): string | null {
  try {
    return decoder.decode(path);
  } catch {
    return null;
  }
}
