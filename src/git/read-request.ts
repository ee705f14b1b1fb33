import type { Readable } from 'node:stream';
import { invalid } from '../kernel/index.ts';
import { leastBytesIn, watchForStall } from './transfer.ts';

/** Requests up to this size are read whole before anything else happens; larger ones go to git as they come. */
const maxBytes = 1024 * 1024;

/**
 * Reads a whole request, from a stream that ends with it.
 * @param bounds how long the client may move nearly nothing, in milliseconds
 * @returns null for a large one, which stays in the stream
 * Refuses `fetch_stalled`, `bad_fetch` when it breaks off, and what the stream fails with.
 */
export function readRequest(input: Readable, { quietMs, signal }: { quietMs: number; signal: AbortSignal }): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      endWatch();
      input.pause();
      input.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxBytes) return;
      // Put back at once: a promise later, the stream may have ended.
      settle(() => {
        input.unshift(Buffer.concat(chunks));
        resolve(null);
      });
    };
    const onEnd = () => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    const onError = (error: Error) => settle(() => reject(error));
    const onClose = () => settle(() => reject(invalid('bad_fetch', 'The request ended too early.')));
    const onAbort = () => settle(() => reject(signal.reason));
    const onStall = () => settle(() => reject(invalid('fetch_stalled', 'The request stopped coming.')));
    const endWatch = watchForStall({ stallMs: quietMs, leastBytes: leastBytesIn(quietMs) }, () => true, () => bytes, onStall);
    if (signal.aborted) return onAbort();
    if (input.errored) return onError(input.errored);
    if (input.readableEnded) return onEnd();
    if (input.destroyed) return onClose();
    input.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort);
    input.resume();
  });
}

/** Whether a request asks for a pack and has said all it will say: its answer depends on nothing but itself and the repository. */
export function isWholeFetch(request: Buffer, protocol: string | null | undefined): boolean {
  const tail = request.toString('latin1', Math.max(0, request.length - 13));
  if (protocol === 'version=2') return request.toString('latin1', 4, 17) === 'command=fetch' && /(?:0009done\n|0008done)0000$/.test(tail);
  return /(?:0009done\n|0008done)$/.test(tail);
}
