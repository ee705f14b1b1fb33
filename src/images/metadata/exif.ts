const orientationTag = 0x0112;
const shortType = 3;
/** A camera writes some sixty entries; entries above this limit are not searched. */
const maxEntries = 1_000;

/**
 * Orientation in the first directory of a TIFF header (Exif 2.32, 4.6.4), 1 to 8; 1 if it is absent.
 * @param tiff the bytes after `Exif\0\0`; truncated or corrupt ones have none
 */
export function orientationOf(tiff: Buffer): number {
  const order = tiff.toString('latin1', 0, 2);
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return 1;
  const isLittle = order === 'II';
  const short = (at: number): number => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const first = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (first + 2 > tiff.length) return 1;
  const count = Math.min(short(first), maxEntries);
  for (let at = first + 2; at < first + 2 + count * 12 && at + 12 <= tiff.length; at += 12) {
    if (short(at) !== orientationTag) continue;
    const orientation = short(at + 8);
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
  }
  return 1;
}

/** A TIFF header with one directory that contains only the orientation. */
export function exifWith(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(orientationTag, 10);
  tiff.writeUInt16BE(shortType, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}
