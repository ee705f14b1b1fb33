import type { OpenedImage } from '../../images/index.ts';
import { content, type ContentReply } from './reply.ts';

const endings = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/gif': 'gif', 'image/webp': 'webp' } as const;

/**
 * Response with an uploaded image (SPEC §8). Its URL changes with its content, so it may be
 * cached for a year; a fixed file name and a sandbox keep the browser from treating the upload
 * as anything but a picture.
 *
 * @param scope which caches may store it: `private` where not every viewer may see it
 */
export function imageReply(image: OpenedImage, scope: 'public' | 'private'): ContentReply {
  return content(image.type, image.stream(), {
    headers: {
      'Cache-Control': `${scope}, max-age=31536000, immutable`,
      'Content-Disposition': `inline; filename="image.${endings[image.type]}"`,
      'Content-Length': String(image.bytes),
      'Content-Security-Policy': "default-src 'none'; sandbox",
      ETag: `"${image.stamp.toString(36)}-${image.bytes.toString(36)}"`,
      ...(scope === 'private' ? { Vary: 'Cookie, Authorization' } : {}),
    },
  });
}
