import { exifWith, orientationOf } from './exif.ts';

const exif = Buffer.from('Exif\0\0', 'latin1');
const icc = Buffer.from('ICC_PROFILE\0', 'latin1');
const adobe = Buffer.from('Adobe', 'latin1');
const jfif = Buffer.from('JFIF\0', 'latin1');

const endOfImage = Buffer.from([0xff, 0xd9]);

const begins = (payload: Buffer, name: Buffer): boolean => payload.subarray(0, name.length).equals(name);

/**
 * Keeps the parts of a JPEG (ITU T.81, annex B) that decoding needs: tables, frames and scans, the JFIF header without
 * its thumbnail, Adobe's colour transform, the ICC profile, and only the orientation of Exif. Removes everything else:
 * Exif, XMP, IPTC, comments, and data after the end, such as a second picture or a film.
 * @returns the parts in order; null for a file whose segments cannot be followed. A file that is truncated within its
 *   coded data is still shown by browsers, and gets an end marker.
 */
export function stripJpeg(bytes: Buffer): Buffer[] | null {
  const retained: Buffer[] = [bytes.subarray(0, 2)];
  let orientation = 1;
  let hasScan = false;
  /** The position of Exif: after the JFIF header, before anything else. */
  let exifAt = 1;
  for (let at = 2; ; ) {
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at += 1;
    const marker = hasScan && at >= bytes.length - 1 ? 0xd9 : bytes[at + 1];
    if (marker === 0xd9) {
      retained.push(endOfImage);
      if (orientation !== 1) retained.splice(exifAt, 0, segment(0xe1, Buffer.concat([exif, exifWith(orientation)])));
      return retained;
    }
    if (bytes[at] !== 0xff || marker === undefined) return null;
    // Markers without a length: restart markers and TEM.
    if ((marker >= 0xd0 && marker <= 0xd7) || marker === 0x01) {
      retained.push(bytes.subarray(at, at + 2));
      at += 2;
      continue;
    }
    if (at + 4 > bytes.length) return null;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    if (end < at + 4 || end > bytes.length) return null;
    const payload = bytes.subarray(at + 4, end);
    if (marker === 0xe0 && begins(payload, jfif) && payload.length >= 14) {
      retained.push(withoutThumbnail(payload));
      if (retained.length === 2) exifAt = 2;
    } else if (marker === 0xe1 && begins(payload, exif)) {
      if (orientation === 1) orientation = orientationOf(payload.subarray(exif.length));
    } else if (isNeeded(marker, payload)) retained.push(bytes.subarray(at, end));
    at = end;
    if (marker === 0xda) {
      const scanEnd = endOfScan(bytes, at);
      retained.push(bytes.subarray(at, scanEnd));
      at = scanEnd;
      hasScan = true;
    }
  }
}

/** Application segments (FFE0 to FFEF) and comments (FFFE) are metadata, except for two that colours depend on. */
function isNeeded(marker: number, payload: Buffer): boolean {
  if (marker === 0xe2) return begins(payload, icc);
  if (marker === 0xee) return begins(payload, adobe);
  return marker !== 0xfe && (marker < 0xe0 || marker > 0xef);
}

function withoutThumbnail(payload: Buffer): Buffer {
  const header = Buffer.from(payload.subarray(0, 14));
  header.writeUInt16BE(0, 12);
  return segment(0xe0, header);
}

function segment(marker: number, payload: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}

/** Coded data continues to the next marker: `FF 00` is a byte of it, and restart markers are part of it. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    if (next === undefined) break;
    if (next !== 0x00 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}
