import { exifWith, orientationOf } from './exif.ts';

/** Chunks that decoding and colours depend on (RFC 9649, 2.7). */
const needed = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
const inFrames = new Set(['VP8 ', 'VP8L', 'ALPH']);
const [exifFlag, xmpFlag] = [0x08, 0x04];
/** Position, size, duration and flags of an `ANMF` chunk precede its own chunks. */
const frameHeadBytes = 16;

/**
 * Keeps the needed chunks of a WebP, and only the orientation of `EXIF`. Removes Exif, XMP, unknown chunks and data
 * after the end.
 * @returns the parts in order; null for a file whose chunks cannot be followed to its end
 */
export function stripWebp(bytes: Buffer): Buffer[] | null {
  if (bytes.length < 12) return null;
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) return null;
  const chunks = chunksOf(bytes.subarray(12, end));
  if (chunks === null || chunks.length === 0) return null;
  const exif = chunks.find(({ type }) => type === 'EXIF')?.data;
  const orientation = exif === undefined ? 1 : orientationOf(withoutPrefix(exif));
  const retained: Buffer[] = [];
  for (const { type, data } of chunks) {
    if (!needed.has(type)) continue;
    if (type === 'VP8X') retained.push(chunk(type, withFlags(data, orientation !== 1)));
    else if (type === 'ANMF') {
      const parts = chunksOf(data.subarray(frameHeadBytes));
      if (parts === null) return null;
      const images = parts.filter((part) => inFrames.has(part.type)).map((part) => chunk(part.type, part.data));
      retained.push(chunk(type, Buffer.concat([data.subarray(0, frameHeadBytes), ...images])));
    } else retained.push(chunk(type, data));
  }
  // Without the extended header there is no flag for it.
  if (orientation !== 1 && chunks[0]!.type === 'VP8X') retained.push(chunk('EXIF', exifWith(orientation)));
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  head.writeUInt32LE(4 + retained.reduce((sum, part) => sum + part.length, 0), 4);
  return [head, ...retained];
}

interface Chunk {
  type: string;
  data: Buffer;
}

function chunksOf(bytes: Buffer): Chunk[] | null {
  const chunks: Chunk[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 8 > bytes.length) return null;
    const size = bytes.readUInt32LE(at + 4);
    if (at + 8 + size > bytes.length) return null;
    chunks.push({ type: bytes.toString('latin1', at, at + 4), data: bytes.subarray(at + 8, at + 8 + size) });
    at += 8 + size + (size % 2);
  }
  return chunks;
}

/** Some writers put the prefix of a JPEG segment before the header. */
const withoutPrefix = (exif: Buffer): Buffer =>
  exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;

function withFlags(data: Buffer, hasExif: boolean): Buffer {
  const copy = Buffer.from(data);
  if (copy.length > 0) copy[0] = (copy[0]! & ~(exifFlag | xmpFlag)) | (hasExif ? exifFlag : 0);
  return copy;
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(8 + data.length + (data.length % 2));
  bytes.write(type, 'latin1');
  bytes.writeUInt32LE(data.length, 4);
  data.copy(bytes, 8);
  return bytes;
}
