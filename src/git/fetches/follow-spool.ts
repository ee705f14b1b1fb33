import type { Writable } from 'node:stream';
import { leastBytesIn, watchForStall } from '../transfer.ts';
import type { Spool } from './spool.ts';

/** How copying to a reader ended: complete, cut off by the writer, or the client disconnected or stalled. */
interface Followed {
  bytes: number;
  left: boolean;
}

interface Reader {
  output: Writable;
  /** Whether `output` no longer uses a write's bytes when it calls the callback, so that buffers can be reused. */
  takesBytesAtOnce: boolean;
  signal: AbortSignal;
  stallMs: number;
}

/** Copies a spool to one client as it grows, until it ends or the client disconnects. */
export async function followSpool(
  spool: Spool,
  { output, takesBytesAtOnce, signal, stallMs }: Reader,
): Promise<Followed> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  output.on('close', leave);
  signal.addEventListener('abort', leave);
  if (output.destroyed || signal.aborted) leave();
  let bytes = 0;
  const endWatch = watchForStall(
    { stallMs, leastBytes: leastBytesIn(stallMs) },
    () => output.writableNeedDrain,
    () => bytes,
    leave,
  );
  spool.enter();
  try {
    for (;;) {
      await spool.beyond(bytes, leaving.signal);
      if (leaving.signal.aborted || spool.size <= bytes) break;
      const chunk = await spool.read(bytes);
      const isWritten = await write(output, chunk.bytes, leaving.signal);
      // After a failed write the buffer may still be in use.
      chunk.release(isWritten && takesBytesAtOnce);
      if (!isWritten) break;
      bytes += chunk.bytes.length;
    }
  } finally {
    spool.leave();
    endWatch();
    output.off('close', leave);
    signal.removeEventListener('abort', leave);
  }
  return { bytes, left: leaving.signal.aborted };
}

/** Writes and waits until the output has taken the bytes; false if it did not. */
function write(output: Writable, bytes: Buffer, leaving: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const onLeave = () => resolve(false);
    if (leaving.aborted) return onLeave();
    leaving.addEventListener('abort', onLeave, { once: true });
    output.write(bytes, (error) => {
      leaving.removeEventListener('abort', onLeave);
      resolve(!error);
    });
  });
}
