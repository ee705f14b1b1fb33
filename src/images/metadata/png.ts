import { crc32 } from 'node:zlib';
import { exifWith, orientationOf } from './exif.ts';

/** Chunks that decoding and colours depend on, including animation (PNG 3rd edition, 11). */
const needed = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD pHYs acTL fcTL fdAT'.split(' '),
);
const signatureBytes = 8;

/**
 * Keeps the needed chunks of a PNG, and only the orientation of `eXIf`. Removes texts, times, Exif, XMP and data after
 * the end.
 * @returns the parts in order; null for a file whose chunks cannot be followed to its end
 */
export function stripPng(bytes: Buffer): Buffer[] | null {
  const retained: Buffer[] = [bytes.subarray(0, signatureBytes)];
  let orientation = 1;
  for (let at = signatureBytes; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length) return null;
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (at === signatureBytes && type !== 'IHDR') return null;
    if (type === 'eXIf') orientation = orientationOf(bytes.subarray(at + 8, end - 4));
    if (needed.has(type)) retained.push(bytes.subarray(at, end));
    if (type === 'IEND') {
      // It is allowed anywhere between the first chunk and the last; all readers accept it before the data.
      if (orientation !== 1) retained.splice(2, 0, chunk('eXIf', exifWith(orientation)));
      return retained;
    }
    at = end;
  }
  return null;
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}
