import type { Readable, Writable } from 'node:stream';

/** Minimum rate in bytes per second; below it a client counts as stalled. */
const leastBytesPerSecond = 256;

/**
 * Watches for a client that keeps git waiting during all of `stallMs` while fewer than `leastBytes` move: a slow client
 * may not hold a slot for ever (security I04).
 * @param waits returns whether git currently waits for the client
 * @param moved returns the bytes moved so far
 * @param onStall called once
 * @returns a function that ends the watch
 */
export function watchForStall(
  { stallMs, leastBytes }: { stallMs: number; leastBytes: number },
  waits: () => boolean,
  moved: () => number,
  onStall: () => void,
): () => void {
  const steps = 4;
  let waited = 0;
  let movedBefore = 0;
  const timer = setInterval(() => {
    if (!waits()) {
      waited = 0;
      return;
    }
    if (waited === 0) movedBefore = moved();
    if (waited === steps && moved() - movedBefore < leastBytes) {
      clearInterval(timer);
      onStall();
    }
    waited = waited === steps ? 0 : waited + 1;
  }, stallMs / steps);
  return () => clearInterval(timer);
}

/** Number of bytes that a client must move in `stallMs` to count as alive. */
export function leastBytesIn(stallMs: number): number {
  return (leastBytesPerSecond * stallMs) / 1_000;
}

/** Adds an error listener, so that a stream failure is not uncaught; the code that copies it checks `errored`. */
export function expectErrors(stream: Readable | Writable): void {
  stream.on('error', () => {});
}

interface DrainBounds {
  /** Limit of bytes to read. */
  maxBytes: number;
  /** Limit of the total time. */
  maxMs: number;
  /** Time in milliseconds that the stream may stay below the minimum rate. */
  stallMs: number;
}

/**
 * Reads and discards further data from a client, so that it gets to read the response. Gives up at the bounds.
 * @returns whether the end was reached
 */
export function drain(input: Readable, { maxBytes, maxMs, stallMs }: DrainBounds): Promise<boolean> {
  if (input.readableEnded) return Promise.resolve(true);
  if (input.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    let bytes = 0;
    const finish = (ended: boolean) => {
      clearTimeout(limit);
      endWatch();
      input.pause();
      input.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      resolve(ended);
    };
    const limit = setTimeout(() => finish(false), maxMs);
    const endWatch = watchForStall(
      { stallMs, leastBytes: leastBytesIn(stallMs) },
      () => true,
      () => bytes,
      () => finish(false),
    );
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) finish(false);
    };
    const onEnd = () => finish(true);
    const onClose = () => finish(input.readableEnded);
    input.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    input.resume();
  });
}

/**
 * Writes, and waits if the client is slow. Returns at once if it has disconnected.
 * @param stallMs timeout without progress, after which its stream is destroyed; omitted if another watch applies
 */
export async function send(output: Writable, bytes: Buffer, stallMs?: number): Promise<void> {
  if (bytes.length === 0 || output.destroyed || output.writableEnded || output.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const limit = stallMs === undefined ? undefined : setTimeout(() => output.destroy(), stallMs);
    const done = () => {
      clearTimeout(limit);
      output.off('drain', done).off('close', done);
      resolve();
    };
    output.on('drain', done).on('close', done);
  });
}
