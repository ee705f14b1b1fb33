import { notFound } from '../../kernel/index.ts';
import { content } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { SiteDeps } from './deps.ts';

/**
 * `/-/images/{signature}/{encoded}`: an image of another host, through the proxy. An SVG can contain scripts and links:
 * the sandbox gives it a separate origin without scripts if a browser opens it directly.
 */
export const showRemoteImage: Page<RequestContext, SiteDeps> = async ({ params }, { imageProxy, config }) => {
  const isOn = config.repositories.remoteImages;
  const image = isOn ? await imageProxy.open(params['signature'] ?? '', params['encoded'] ?? '') : null;
  if (image === null) throw notFound('image_not_found', 'Image not found');
  const scope = image.isPublic ? 'public' : 'private';
  return content(image.type, image.stream(), {
    headers: {
      'Cache-Control': `${scope}, max-age=${image.maxAgeSeconds}`,
      'Content-Security-Policy': "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
      'Content-Disposition': `inline; filename="image.${endings[image.type]}"`,
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Content-Length': String(image.bytes),
      ETag: image.etag,
    },
  });
};

const endings = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
} as const;
