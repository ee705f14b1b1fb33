import { sniffImageType } from './image-type.ts';
import { orientationOf } from './metadata/exif.ts';

/** The natural size of an image, in CSS pixels. */
export interface ImageSize {
  width: number;
  height: number;
}

/** Larger sides are treated as a corrupt header. */
const maxSide = 16_384;

/**
 * The size in the header of a PNG, GIF, WebP, JPEG (with Exif orientation) or SVG that gives both sides. Decodes
 * nothing; `null` for anything else, truncated or absurd.
 */
export function imageSize(bytes: Buffer): ImageSize | null {
  try {
    const size = stated(bytes);
    return size !== null && isSide(size.width) && isSide(size.height) ? size : null;
  } catch (error) {
    // A RangeError means a read past the end of the file.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const isSide = (length: number): boolean => Number.isInteger(length) && length > 0 && length <= maxSide;

function stated(bytes: Buffer): ImageSize | null {
  switch (sniffImageType(bytes)) {
    case 'image/png':
      return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    case 'image/gif':
      return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    case 'image/webp':
      return ofWebp(bytes);
    case 'image/jpeg':
      return ofJpeg(bytes);
    default:
      return ofSvg(bytes);
  }
}

/** RFC 9649: the first chunk is lossy, lossless, or the extended header. */
function ofWebp(bytes: Buffer): ImageSize | null {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

/** Walks the segments up to the frame header; an Exif segment before it may contain an orientation. */
function ofJpeg(bytes: Buffer): ImageSize | null {
  let isOnItsSide = false;
  for (let at = 2; bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      return isOnItsSide ? { width: height, height: width } : { width, height };
    }
    if (marker === 0xe1)
      isOnItsSide ||= orientationIn(bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2))) >= 5;
  }
  return null;
}

/** Orientation of an Exif segment; 5 to 8 swap width and height. */
const orientationIn = (segment: Buffer): number =>
  segment.toString('latin1', 0, 6) === 'Exif\0\0' ? orientationOf(segment.subarray(6)) : 1;

/** Range in which the `svg` tag is searched, in bytes. */
const svgHead = 4_096;

function ofSvg(bytes: Buffer): ImageSize | null {
  const [tag] = /<svg\b[^>]*>/.exec(bytes.toString('latin1', 0, svgHead)) ?? [];
  if (tag === undefined) return null;
  const side = (name: string): number =>
    Math.round(Number(new RegExp(`\\s${name}\\s*=\\s*["']\\s*([\\d.]{1,10})(?:px)?\\s*["']`).exec(tag)?.[1]));
  return { width: side('width'), height: side('height') };
}
