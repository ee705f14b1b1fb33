import { sniffImageType } from './image-type.ts';
import type { ImageType } from './image-type.ts';
import { stripGif } from './metadata/gif.ts';
import { stripJpeg } from './metadata/jpeg.ts';
import { stripPng } from './metadata/png.ts';
import { stripWebp } from './metadata/webp.ts';

const strippers: Record<ImageType, (bytes: Buffer) => Buffer[] | null> = {
  'image/png': stripPng,
  'image/jpeg': stripJpeg,
  'image/gif': stripGif,
  'image/webp': stripWebp,
};

/**
 * The same picture without metadata: what cameras and programs write about place, time, device and person, and
 * thumbnails of an earlier state. Kept are the ICC profile and the orientation, because the picture would look
 * different without them. Nothing is decoded; the work is linear in the size.
 * @returns null for what is none of the four formats, or damaged: its metadata cannot be separated from the rest
 */
export function stripMetadata(bytes: Buffer): Buffer | null {
  const type = sniffImageType(bytes);
  const retained = type === null ? null : strippers[type](bytes);
  return retained === null ? null : Buffer.concat(retained);
}
