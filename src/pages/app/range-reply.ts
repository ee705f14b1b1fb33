import type { Readable } from 'node:stream';
import { parseRange } from '../../http/index.ts';
import type { Range } from '../../http/index.ts';
import { content, type ContentReply } from './reply.ts';
import type { RequestContext } from './request-context.ts';

interface SizedFile {
  type: string;
  bytes: number;
  /** With its `ETag`. */
  headers: Readonly<Record<string, string>> & { ETag: string };
  open(range?: Range): Promise<Readable>;
}

/** A file of known size, or the range of it that the client requests (RFC 9110, 14). */
export async function rangeReply(
  { range: rangeHeader, ifRange }: Pick<RequestContext, 'range' | 'ifRange'>,
  { type, bytes, headers, open }: SizedFile,
): Promise<ContentReply> {
  const isForThis = ifRange === '' || ifRange === headers.ETag;
  const range = rangeHeader !== '' && isForThis ? parseRange(rangeHeader, bytes) : null;
  if (range === 'unsatisfiable')
    return content('text/plain; charset=utf-8', '', {
      status: 416,
      headers: { 'Content-Range': `bytes */${bytes}`, 'Cache-Control': 'private, no-store' },
    });
  const stream = await open(range ?? undefined);
  const shared = { ...headers, 'Accept-Ranges': 'bytes' };
  if (range === null) return content(type, stream, { headers: { ...shared, 'Content-Length': String(bytes) } });
  const { first, last } = range;
  return content(type, stream, {
    status: 206,
    headers: {
      ...shared,
      'Content-Length': String(last - first + 1),
      'Content-Range': `bytes ${first}-${last}/${bytes}`,
    },
  });
}
