import type { Readable } from 'node:stream';
import { parseRange } from '../../http/index.ts';
import { content } from './reply.ts';
import type { Reply } from './reply.ts';

/** A stored file that people have sent, and how it is served. */
export interface SentFile {
  name: string;
  bytes: number;
  /** Hex. */
  sha256: string;
  contentType: string;
  /** Shown by the browser; else it is downloaded. */
  isInline: boolean;
}

/**
 * A stored file, or the part of it that the request asks for, with a sandbox CSP (security C03). Who may see it can
 * change at any time, so a browser asks again; the tag saves the bytes.
 * @param open opens the content, or a part of it
 */
export async function sendFile(
  request: { range: string; ifRange: string },
  { name, bytes, sha256, contentType, isInline }: SentFile,
  open: (part?: { first: number; last: number }) => Promise<Readable>,
): Promise<Reply> {
  const tag = `"${sha256.slice(0, 32)}"`;
  const isAsked = request.range !== '' && (request.ifRange === '' || request.ifRange === tag);
  const range = isAsked ? parseRange(request.range, bytes) : null;
  const headers = {
    ETag: tag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Content-Disposition': disposition(isInline ? 'inline' : 'attachment', name),
    Vary: 'Cookie, Authorization',
  };
  if (range === 'unsatisfiable')
    return content('text/plain; charset=utf-8', '', {
      status: 416,
      headers: { 'Content-Range': `bytes */${bytes}`, 'Cache-Control': 'private, no-store' },
    });
  if (range === null)
    return content(contentType, await open(), { headers: { ...headers, 'Content-Length': String(bytes) } });
  const { first, last } = range;
  return content(contentType, await open(range), {
    status: 206,
    headers: {
      ...headers,
      'Content-Length': String(last - first + 1),
      'Content-Range': `bytes ${first}-${last}/${bytes}`,
    },
  });
}

/** Plain ASCII, and the true name in the form for everything else (RFC 6266). */
function disposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replace(/[^\w.+ -]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
