import type { OpenedArtifact } from '../ci/index.ts';
import { attachmentDisposition } from '../http/index.ts';
import type { Context } from '../http/index.ts';

/** Sends an artifact: one zip, or a single file as it was uploaded. */
export function sendArtifact(ctx: Context, { fileName, mediaType, bytes, content }: OpenedArtifact): void {
  ctx.body = content;
  ctx.set({
    'Content-Type': mediaType,
    'Content-Disposition': attachmentDisposition(fileName),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  });
  if (bytes !== null) ctx.set('Content-Length', String(bytes));
}
