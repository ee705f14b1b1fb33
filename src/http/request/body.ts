import { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

interface BodyOptions {
  /** Size limit of the body in bytes, after decompression; `Infinity` if the reader limits it. */
  maxBytes: number;
  tooLarge: () => Error;
  /**
   * Converts the cause of an aborted body into an error for the reader; `cause` comes from zlib or from the connection.
   */
  broken?: (cause: Error) => Error;
  /** Content codings that are inflated, all of them gzip. Without it the bytes are read unchanged. */
  gzip?: { names: readonly string[]; unsupported: (coding: string) => Error };
  /** Time of silence after which the connection is closed. */
  stall?: { ms: number; error: () => Error };
  /** Whether the stream is not the request itself: for a library that may destroy it. */
  isSeparate?: boolean;
}

/** Inflated size in bytes below which the ratio is not checked. */
const ratioCountsFromBytes = 1024 * 1024;
/** Text compresses to a tenth, zeros to a thousandth. */
const maxRatio = 200;

/**
 * The body of a request as a stream, bounded while it arrives and optionally inflated: no client can make the server
 * hold or inflate more than `maxBytes`, nor more than 200 times the bytes it has sent. The request itself is not
 * destroyed, so that a refusal can still be sent; the handler that refuses drains the rest of the body (`drain.ts`).
 */
export function openBody(request: IncomingMessage, options: BodyOptions): Readable {
  const { maxBytes, tooLarge, gzip, stall, isSeparate = false } = options;
  const coding = gzip === undefined ? 'identity' : codingOf(request);
  const isInflated = coding !== 'identity';
  if (isInflated && !gzip!.names.includes(coding)) throw gzip!.unsupported(coding);
  const length = Number(request.headers['content-length'] ?? Infinity);
  if (!isInflated && length > maxBytes && length !== Infinity) throw tooLarge();
  // Node ends a body at the announced length, so counting is unnecessary.
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
  // `pipe` does not forward errors: an aborted body must not look like a complete one.
  const onClose = (): void => {
    // A handler that refuses may leave the stream unread.
    clearTimeout(timer);
    if (!request.complete) bounded.destroy(broken(request.errored ?? connectionReset()));
  };
  // Node keeps the cause only if there is a listener for errors.
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

/** The bytes of a body as they arrive. A reader that stops early leaves the request usable, for the refusal. */
export const chunksOf = (body: Readable): AsyncIterable<Buffer> =>
  body.iterator({ destroyOnReturn: !(body instanceof IncomingMessage) }) as AsyncIterable<Buffer>;

/** Time limit for a small body to arrive. */
const defaultDeadlineMs = 60_000;

/**
 * A small body as a whole.
 * @param deadlineMs time after which the connection is closed
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
