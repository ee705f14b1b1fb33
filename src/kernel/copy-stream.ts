import { finished } from 'node:stream/promises';
import type { Readable, Writable } from 'node:stream';
import { freeMemory } from './free-memory.ts';

export interface Flow {
  /** Bytes copied so far. */
  readonly bytes: number;
  /** Resolves when the source has ended, or copying was stopped. */
  readonly ended: Promise<void>;
  /** Stops copying; the source is left paused. */
  stop(): void;
}

/** A source that reads into the memory of chunks that it gets back. */
interface ReusingSource extends Readable {
  reuse(chunk: Buffer): void;
}

const isReusing = (from: Readable): from is ReusingSource => 'reuse' in from;

/**
 * Copies one stream to another with backpressure.
 * @param ends whether the target ends with the source
 * @param frees whether nothing else uses the chunks, and the target only until it calls the callback, so that their
 *   memory can be reused
 */
export function startFlow(from: Readable, to: Writable, ends: boolean, frees = false): Flow {
  let bytes = 0;
  const free = isReusing(from) ? (chunk: Buffer) => from.reuse(chunk) : freeMemory;
  let finish = () => {};
  const ended = new Promise<void>((resolve) => (finish = resolve));
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    const done = frees ? (error?: Error | null) => void (error ? null : free(chunk)) : undefined;
    if (!to.write(chunk, done)) from.pause();
  };
  const onDrain = () => from.resume();
  const onEnd = () => {
    if (ends) to.end();
    finish();
  };
  const stop = () => {
    from.pause();
    from.off('data', onData).off('end', onEnd).off('close', finish);
    to.off('drain', onDrain).off('close', stop);
    finish();
  };
  to.on('drain', onDrain).on('close', stop);
  from.on('data', onData).on('end', onEnd).on('close', finish);
  if (from.readableEnded) onEnd();
  else if (to.writableNeedDrain) from.pause();
  else from.resume();
  return {
    get bytes() {
      return bytes;
    },
    ended,
    stop,
  };
}

/**
 * Copies a stream to the end of another one and frees its chunks, which nothing else may use, or gives them
 * back to a source that reuses them. Both are destroyed when
 * one of them fails or is closed early, as `pipeline` does. Throws the error of the one that failed.
 */
export async function copyAndFree(from: Readable, to: Writable): Promise<void> {
  let failure: unknown;
  from.once('error', (error) => (failure = error));
  from.once('close', () => {
    if (!from.readableEnded) to.destroy(failure as Error | undefined);
  });
  const written = finished(to);
  if (!to.destroyed) startFlow(from, to, true, true);
  try {
    await written;
  } catch (error) {
    throw failure ?? error;
  } finally {
    from.destroy();
  }
}
