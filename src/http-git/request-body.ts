import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { invalid } from '../kernel/index.ts';

/** Below this much inflated text the ratio says nothing. */
const ratioCountsFromBytes = 1024 * 1024;
const maxRatio = 200;

/**
 * The body of a git request, inflated when the client compressed it, and bounded while it
 * arrives. The request itself is never destroyed: it still has to be answered.
 *
 * @param type the only content type that the route takes
 * @param maxBytes bound of the inflated body; `Infinity` when git bounds it
 * Refuses `unsupported_type`, `unsupported_encoding`. The stream fails with `body_too_large`,
 * also for more than 200 times its compressed size, and `bad_encoding`.
 */
export function openBody(request: IncomingMessage, type: string, maxBytes: number): Readable {
  if (request.headers['content-type'] !== type) {
    throw invalid('unsupported_type', `This address takes ${type} only.`);
  }
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity')
    return staysBelow(request, maxBytes) ? request : bounded(request, request, maxBytes, false);
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw invalid('unsupported_encoding', 'A request may be compressed with gzip only.');
  }
  return bounded(request, request.pipe(createGunzip({ chunkSize: 64 * 1024 })), maxBytes, true);
}

/** Whether nothing has to be counted: no bound, or the length that was announced keeps to it. Node cuts the body there. */
function staysBelow({ headers }: IncomingMessage, maxBytes: number): boolean {
  return maxBytes === Infinity || Number(headers['content-length'] ?? Infinity) <= maxBytes;
}

function bounded(request: IncomingMessage, source: Readable, maxBytes: number, isInflated: boolean): Readable {
  let sent = 0;
  let bytes = 0;
  if (isInflated) request.on('data', (chunk: Buffer) => (sent += chunk.length));
  const tooLarge = () => invalid('body_too_large', 'The request is too large.');
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, pass) {
      bytes += chunk.length;
      const isBomb = isInflated && bytes > ratioCountsFromBytes && bytes > sent * maxRatio;
      if (bytes > maxBytes || isBomb) pass(tooLarge());
      else pass(null, chunk);
    },
  });
  source.pipe(limit);
  // `pipe` forwards neither failure: what broke off must not look like what ended.
  request.on('close', () => {
    if (!request.complete) limit.destroy(invalid('request_cut_short', 'The request ended too early.'));
  });
  if (source !== request) {
    source.on('error', (cause) => limit.destroy(invalid('bad_encoding', 'The request is not valid gzip.', { cause })));
  }
  limit.on('error', () => {
    request.unpipe();
    if (source !== request) source.destroy();
  });
  return limit;
}
