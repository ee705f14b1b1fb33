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
 * The same picture without metadata: without data of cameras and programs about place, time, device and person, and
 * without thumbnails of an earlier state. Keeps the ICC profile and the orientation, because the picture would look
 * different without them. Decodes nothing; linear in the size.
 * @returns null if the image has none of the four formats or is corrupt: its metadata cannot be separated from the rest
 */
export function stripMetadata(bytes: Buffer): Buffer | null {
  const type = sniffImageType(bytes);
  const retained = type === null ? null : strippers[type](bytes);
  return retained === null ? null : Buffer.concat(retained);
}
