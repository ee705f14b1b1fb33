/**
 * Paths of files as text. A path that is UTF-8 is itself; one that is not, or that begins with a quotation mark, is
 * written as git writes it with `core.quotePath`, in quotation marks with octal numbers for bytes, so that every path
 * has one text and every such text one path.
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

/** The bytes of a text that `pathText` has made; of any other text, its UTF-8. */
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
