import type { OpenedImage } from '../../images/index.ts';
import { content, type ContentReply } from './reply.ts';

const endings = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/gif': 'gif', 'image/webp': 'webp' } as const;

/**
 * An uploaded image as an answer (SPEC §8, web-ui §12.3). Its address changes with its
 * content, so it may be kept for a year; a fixed file name and a sandbox keep what
 * somebody uploaded from ever becoming more than a picture.
 *
 * @param scope who may keep it: `private` where the next visitor may not see it
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
