import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { internal } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { ByteRange, OpenedObject } from '../object-store.ts';
import type { StoreMetrics } from '../store-metrics.ts';
import type { S3Response, S3Client } from './s3-client.ts';

export const digestHeader = 'x-amz-meta-sha256';

/** Number of times that an interrupted download is resumed. */
const maxResumes = 3;

interface ReadDeps {
  client: S3Client;
  metrics: StoreMetrics;
  logger: Logger;
}

/**
 * Opens an object or a range of it; null if it is absent. Reconnects for the rest if the connection breaks. The last
 * bytes of a whole object are returned only after its digest is verified: a reader may see a truncated download, never
 * a complete one with other content.
 */
export async function readObject(deps: ReadDeps, name: string, range?: ByteRange): Promise<OpenedObject | null> {
  const first = await openPart(deps, name, range === undefined ? null : { ...range }, null);
  if (first === null) return null;
  const total = sizeOf(first);
  const digest = range === undefined ? (first.headers[digestHeader] ?? null) : null;
  const bounds = range ?? { first: 0, last: total - 1 };
  const chunks = read(deps, name, bounds, first, typeof digest === 'string' ? digest : null);
  return { bytes: total, stream: Readable.from(chunks, { objectMode: true, highWaterMark: 2 }) };
}

async function openPart(
  { client }: ReadDeps,
  name: string,
  range: ByteRange | null,
  etag: string | null,
): Promise<S3Response | null> {
  const answer = await client.fetch({
    verb: 'get',
    method: 'GET',
    name,
    headers: {
      ...(range === null ? {} : { range: `bytes=${range.first}-${range.last}` }),
      ...(etag === null ? {} : { 'if-match': etag }),
    },
    understood: [404],
  });
  return answer.status === 404 ? null : answer;
}

/** The size of the whole object. */
function sizeOf({ status, headers }: S3Response): number {
  const [, total] = /\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return Number(status === 206 && total !== undefined ? total : headers['content-length']);
}

async function* read(
  deps: ReadDeps,
  name: string,
  { first, last }: ByteRange,
  opened: S3Response,
  digest: string | null,
): AsyncGenerator<Buffer> {
  const hash = digest === null ? null : createHash('sha256');
  const etag = opened.headers.etag ?? null;
  let at = first;
  let held: Buffer | null = null;
  let source: Readable = opened.stream;
  try {
    for (let resumes = 0; at <= last; resumes += 1) {
      try {
        for await (const chunk of source as AsyncIterable<Buffer>) {
          if (at + chunk.length > last + 1) throw damaged(deps, name, 'more bytes than it has');
          hash?.update(chunk);
          at += chunk.length;
          deps.metrics.moved('out', chunk.length);
          if (held !== null) yield held;
          held = chunk;
        }
      } catch (error) {
        if (!isCut(error) || resumes >= maxResumes) throw error;
      }
      if (at > last) break;
      if (resumes >= maxResumes) throw damaged(deps, name, 'fewer bytes than it has');
      const rest = await openPart(deps, name, { first: at, last }, etag);
      if (rest === null || rest.status !== 206) throw damaged(deps, name, 'another object');
      source = rest.stream;
    }
    if (digest !== null && hash!.digest('hex') !== digest) throw damaged(deps, name, 'other bytes');
    if (held !== null) yield held;
  } finally {
    source.destroy();
  }
}

const isCut = (error: unknown): boolean => (error as { reason?: string }).reason === 'peer_unreachable';

function damaged({ metrics, logger }: ReadDeps, name: string, what: string): Error {
  metrics.damaged();
  logger.error('objects.damaged', { name, what });
  return internal(`the store gave ${what} for ${name}`);
}
