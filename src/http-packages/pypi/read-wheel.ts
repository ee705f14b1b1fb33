import { inflateRawSync } from 'node:zlib';

/** Reads bytes of a stored file, both ends included. */
type ReadRange = (first: number, last: number) => Promise<Buffer>;

/** Limits of the bytes read from a wheel, whatever sizes it declares. */
const limits = { tail: 65_557, directory: 8 * 1024 * 1024, metadata: 1024 * 1024 };

/**
 * The `METADATA` of a wheel, which is a zip (PEP 427), read without its other files; null if the file is not a valid
 * wheel, or if its metadata is larger than a mebibyte, packed or unpacked.
 */
export async function readWheelMetadata(bytes: number, read: ReadRange): Promise<Buffer | null> {
  if (bytes < 22) return null;
  const tail = await read(Math.max(0, bytes - limits.tail), bytes - 1);
  const end = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end === -1 || end + 22 > tail.length) return null;
  const [size, at] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (size > limits.directory || size === 0 || at + size > bytes) return null;
  const entry = findMetadata(await read(at, at + size - 1));
  if (entry === null || entry.packed > limits.metadata || entry.unpacked > limits.metadata) return null;
  if (entry.at + 30 > bytes) return null;
  const head = await read(entry.at, entry.at + 29);
  if (head.readUInt32LE(0) !== 0x04034b50) return null;
  const start = entry.at + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
  if (entry.packed === 0 || start + entry.packed > bytes) return null;
  const packed = await read(start, start + entry.packed - 1);
  if (entry.method === 0) return packed;
  if (entry.method !== 8) return null;
  try {
    return inflateRawSync(packed, { maxOutputLength: limits.metadata });
  } catch {
    return null;
  }
}

interface Entry {
  method: number;
  packed: number;
  unpacked: number;
  at: number;
}

/** The entry of `NAME.dist-info/METADATA` in a central directory. */
function findMetadata(directory: Buffer): Entry | null {
  for (let at = 0; at + 46 <= directory.length; ) {
    if (directory.readUInt32LE(at) !== 0x02014b50) return null;
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const text = directory.toString('utf8', at + 46, at + 46 + name);
    if (/^[^/]+\.dist-info\/METADATA$/.test(text))
      return {
        method: directory.readUInt16LE(at + 10),
        packed: directory.readUInt32LE(at + 20),
        unpacked: directory.readUInt32LE(at + 24),
        at: directory.readUInt32LE(at + 42),
      };
    at += 46 + name + extra + comment;
  }
  return null;
}
