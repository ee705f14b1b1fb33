import type { OpenedArtifact } from '../ci/index.ts';
import type { Context } from '../http/index.ts';

/** What an artifact is called as a file: plain for old readers, the whole name for others (RFC 6266). */
export function artifactDisposition(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._ -]+/g, '-');
  return `attachment; filename="${plain}.zip"; filename*=UTF-8''${encodeURIComponent(`${name}.zip`).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}

/** Sends an artifact as one zip. */
export function sendArtifact(ctx: Context, { name, bytes, content }: OpenedArtifact): void {
  ctx.body = content;
  ctx.set({
    'Content-Type': 'application/zip',
    'Content-Disposition': artifactDisposition(name),
    'Content-Security-Policy': "default-src 'none'; sandbox",
  });
  if (bytes !== null) ctx.set('Content-Length', String(bytes));
}
