import type { Readable } from 'node:stream';
import { rangeReply } from './range-reply.ts';
import type { Reply } from './reply.ts';

/** A stored upload and how it is served. */
interface SentFile {
  name: string;
  bytes: number;
  /** Hex. */
  sha256: string;
  contentType: string;
  /** Displayed by the browser; otherwise downloaded. */
  isInline: boolean;
}

/**
 * A stored file, or the requested range of it, with a sandbox CSP (security C03). Its visibility can change at any
 * time, so browsers must revalidate; the ETag saves the bytes.
 * @param open opens the content, or a part of it
 */
export async function sendFile(
  request: { range: string; ifRange: string },
  { name, bytes, sha256, contentType, isInline }: SentFile,
  open: (part?: { first: number; last: number }) => Promise<Readable>,
): Promise<Reply> {
  return rangeReply(request, {
    type: contentType,
    bytes,
    headers: {
      ETag: `"${sha256.slice(0, 32)}"`,
      'Cache-Control': 'private, no-cache',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Content-Disposition': disposition(isInline ? 'inline' : 'attachment', name),
      Vary: 'Cookie, Authorization',
    },
    open,
  });
}

/** An ASCII name, and the full name in the extended parameter (RFC 6266). */
function disposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replace(/[^\w.+ -]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
