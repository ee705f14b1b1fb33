import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import { invalid } from '../../kernel/index.ts';
import type { BodyBudget } from './body-budget.ts';

/** Below this much inflated text the ratio says nothing. */
const ratioCountsFromBytes = 1024 * 1024;
const maxRatio = 200;
/** A client that sends nothing for so long has stopped. */
const stallMs = 30_000;

const tooLarge = () => invalid('message_too_large', 'The message is too large.');

/**
 * The bytes of a request as they come, inflated when they were compressed, and
 * bounded: nobody can make the server hold or inflate more than `maxBytes`.
 * Refuses `unknown_compression`, `message_too_large`, `malformed_message` (no gzip,
 * cut short), `message_too_slow`.
 */
export async function* bodyPieces(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw invalid('unknown_compression', `The compression ${encoding.slice(0, 40)} is not known; gzip is.`);
  }
  if (encoding === 'identity' && Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  let sent = 0;
  let bytes = 0;
  const stall = setTimeout(() => request.destroy(invalid('message_too_slow', 'The message stopped coming.')), stallMs);
  const count = (chunk: Buffer) => {
    sent += chunk.length;
    stall.refresh();
  };
  request.on('data', count);
  const source = encoding === 'gzip' ? request.pipe(createGunzip()) : request;
  // `pipe` does not forward failures.
  if (source !== request) request.once('error', (error) => source.destroy(error));
  try {
    for await (const piece of source as AsyncIterable<Buffer>) {
      bytes += piece.length;
      const isBomb = encoding === 'gzip' && bytes > ratioCountsFromBytes && bytes > sent * maxRatio;
      if (bytes > maxBytes || isBomb) throw tooLarge();
      yield piece;
    }
  } catch (error) {
    throw isFault(error)
      ? invalid('malformed_message', 'The message is not valid gzip, or ended too early.', { cause: error })
      : error;
  } finally {
    clearTimeout(stall);
    request.off('data', count);
    if (source !== request) {
      request.unpipe();
      source.destroy();
    }
  }
}

/** What zlib and a socket that closed say. */
function isFault(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code?.startsWith('Z_') === true || code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** A small message as a whole, within the budget of all messages that are read now. */
export async function readBody(request: IncomingMessage, maxBytes: number, budget: BodyBudget): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const held = budget.open();
  try {
    for await (const piece of bodyPieces(request, maxBytes)) {
      held.add(piece.length);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } finally {
    held.close();
  }
}
