import { invalid } from '../kernel/index.ts';
import { parseImageType, sniffImageType } from './image-type.ts';
import type { ImageType } from './image-type.ts';
import { detectPolyglot } from './detect-polyglot.ts';

/** SPEC §8: 2 MB. A transport stops reading one byte later. */
export const maxImageBytes = 2_097_152;

/** One uploaded file, as the transport received it. */
export interface ImageUpload {
  /** The part's `Content-Type`. The file name is ignored. */
  declaredType: string;
  bytes: Buffer;
}

/** A validated upload. */
interface Image {
  type: ImageType;
  bytes: Buffer;
}

/**
 * Validates an upload (SPEC §4.3): size, type, and leading bytes that match the type. Decodes nothing (security B07).
 *
 * Refuses with `invalid`: `image_missing`, `image_too_large`, `image_type_not_allowed`, `image_content_mismatch` (the
 * bytes have another type, no known type, or also another format).
 *
 * @param field the form field of the error
 */
export function parseImage(upload: ImageUpload, field = 'image'): Image {
  const { declaredType, bytes } = upload;
  if (bytes.length === 0) throw invalid('image_missing', 'Choose an image file that is not empty.', { field });
  if (bytes.length > maxImageBytes) throw imageTooLarge(field);
  const type = parseImageType(declaredType);
  if (type === null)
    throw invalid('image_type_not_allowed', 'An image must be a PNG, JPEG, GIF or WebP file.', { field });
  if (sniffImageType(bytes) !== type) {
    throw invalid(
      'image_content_mismatch',
      `The type of this file is ${inWords(type)}, but its content does not match.`,
      {
        field,
      },
    );
  }
  const second = detectPolyglot(bytes);
  if (second !== null) {
    throw invalid('image_content_mismatch', `This file is both ${inWords(type)} and ${second}.`, {
      field,
    });
  }
  return { type, bytes };
}

/** The error for a transport that stopped reading past `maxImageBytes`. */
export function imageTooLarge(field = 'image') {
  return invalid('image_too_large', 'An image can be at most 2 MB (2,097,152 bytes).', { field });
}

function inWords(type: ImageType): string {
  return { 'image/png': 'a PNG', 'image/jpeg': 'a JPEG', 'image/gif': 'a GIF', 'image/webp': 'a WebP' }[type];
}
