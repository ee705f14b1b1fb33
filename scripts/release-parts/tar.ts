/** An entry of an archive: a folder when it has no content. */
interface TarEntry {
  /** Without a slash at the beginning; a folder ends with one. */
  name: string;
  mode: number;
  owner?: number;
  content?: Uint8Array;
}

const block = 512;

/**
 * An archive in the format ustar (POSIX.1-1988): the same bytes for the same entries.
 * @param seconds time of all entries
 */
export function tar(entries: readonly TarEntry[], seconds: number): Buffer {
  const parts: Uint8Array[] = [];
  for (const { name, mode, owner = 0, content } of entries) {
    const size = content?.length ?? 0;
    parts.push(header({ name, mode, owner, size, seconds, type: content === undefined ? '5' : '0' }));
    if (content !== undefined) parts.push(content, Buffer.alloc((block - (size % block)) % block));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

function header(entry: {
  name: string;
  mode: number;
  owner: number;
  size: number;
  seconds: number;
  type: string;
}): Buffer {
  if (Buffer.byteLength(entry.name) > 100) throw new Error(`${entry.name} is too long for an archive`);
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, length: number): void =>
    void bytes.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  bytes.write(entry.name, 0);
  octal(entry.mode, 100, 8);
  octal(entry.owner, 108, 8);
  octal(entry.owner, 116, 8);
  octal(entry.size, 124, 12);
  octal(entry.seconds, 136, 12);
  bytes.write(' '.repeat(8), 148);
  bytes.write(entry.type, 156);
  bytes.write('ustar\x0000', 257, 'latin1');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
}
