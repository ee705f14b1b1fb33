import { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

interface BodyOptions {
  /** The body as it is read, inflated when it was compressed; `Infinity` when the reader bounds it. */
  maxBytes: number;
  tooLarge: () => Error;
  /** Turns what broke the body off into an error for the reader; `cause` comes from zlib or from the connection. */
  broken?: (cause: Error) => Error;
  /** Content codings that are inflated, all of them gzip. Without it the bytes are read as they came. */
  gzip?: { names: readonly string[]; unsupported: (coding: string) => Error };
  /** The connection is closed when nothing arrives for so long. */
  stall?: { ms: number; error: () => Error };
  /** The stream is not the request itself: for a library that may destroy what it reads. */
  isSeparate?: boolean;
}

/** Below this much inflated text the ratio says nothing. */
const ratioCountsFromBytes = 1024 * 1024;
/** Text compresses to a tenth, zeros to a thousandth. */
const maxRatio = 200;

/**
 * The body of a request as a stream, bounded while it arrives and inflated if wanted: no client can
 * make the server hold or inflate more than `maxBytes`, nor more than 200 times what was sent.
 * The request itself is not destroyed, so that a refusal can still be sent; the handler that refuses
 * drains the rest of the body (`drain.ts`).
 */
export function openBody(request: IncomingMessage, options: BodyOptions): Readable {
  const { maxBytes, tooLarge, gzip, stall, isSeparate = false } = options;
  const coding = gzip === undefined ? 'identity' : codingOf(request);
  const isInflated = coding !== 'identity';
  if (isInflated && !gzip!.names.includes(coding)) throw gzip!.unsupported(coding);
  const length = Number(request.headers['content-length'] ?? Infinity);
  if (!isInflated && length > maxBytes && length !== Infinity) throw tooLarge();
  // Node ends a body at the length that was announced, so there is nothing to count.
  if (!isInflated && stall === undefined && !isSeparate && (maxBytes === Infinity || length <= maxBytes))
    return request;
  return boundedBody(request, options, isInflated);
}

const codingOf = ({ headers }: IncomingMessage): string =>
  (headers['content-encoding'] ?? 'identity').trim().toLowerCase();

function boundedBody(
  request: IncomingMessage,
  { maxBytes, tooLarge, stall, broken = (cause) => cause }: BodyOptions,
  isInflated: boolean,
): Readable {
  let received = 0;
  let bytes = 0;
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, pass) {
      bytes += chunk.length;
      const isBomb = isInflated && bytes > ratioCountsFromBytes && bytes > received * maxRatio;
      if (bytes > maxBytes || isBomb) pass(tooLarge());
      else pass(null, chunk);
    },
  });
  const timer = stall && setTimeout(() => request.destroy(stall.error()), stall.ms);
  const count = (chunk: Buffer): void => {
    received += chunk.length;
    timer?.refresh();
  };
  const source: Readable = isInflated ? request.pipe(createGunzip({ chunkSize: 64 * 1024 })) : request;
  request.on('data', count);
  source.pipe(bounded);
  // `pipe` forwards no failure: a body that broke off must not look like one that ended.
  const onClose = (): void => {
    // A handler that refuses may leave the stream unread.
    clearTimeout(timer);
    if (!request.complete) bounded.destroy(broken(request.errored ?? connectionReset()));
  };
  // With a listener for errors Node keeps the cause; without one it drops it.
  request.on('close', onClose).on('error', onClose);
  if (isInflated) source.on('error', (cause) => bounded.destroy(broken(cause)));
  bounded.on('error', () => {});
  bounded.on('close', () => {
    clearTimeout(timer);
    request.off('data', count).off('close', onClose).off('error', onClose).unpipe();
    if (isInflated) source.destroy();
  });
  return bounded;
}

const connectionReset = (): Error => Object.assign(new Error('aborted'), { code: 'ECONNRESET' });

/** The bytes of a body as they come. A reader that stops early leaves the request as it is, for the refusal. */
export const chunksOf = (body: Readable): AsyncIterable<Buffer> =>
  body.iterator({ destroyOnReturn: !(body instanceof IncomingMessage) }) as AsyncIterable<Buffer>;

/** A small body that is not there after so long is not waited for. */
const defaultDeadlineMs = 60_000;

/**
 * A small body as a whole.
 * @param deadlineMs ends the connection of a client that takes longer
 */
export async function readBytes(
  request: IncomingMessage,
  { deadlineMs = defaultDeadlineMs, ...options }: BodyOptions & { deadlineMs?: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const body = openBody(request, options);
  const deadline = setTimeout(() => request.destroy(), deadlineMs);
  try {
    for await (const chunk of chunksOf(body)) chunks.push(chunk);
  } finally {
    clearTimeout(deadline);
  }
  return Buffer.concat(chunks);
}
