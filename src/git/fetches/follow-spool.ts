import type { Writable } from 'node:stream';
import { leastBytesIn, watchForStall } from '../transfer.ts';
import type { Spool } from './spool.ts';

/** How a reader's copying ended: it has everything, the writer broke off, or the client left or stalled. */
export interface Followed {
  bytes: number;
  left: boolean;
}

interface Reader {
  output: Writable;
  /** Whether `output` is done with bytes when it calls a write's callback, so that buffers can be used again. */
  takesBytesAtOnce: boolean;
  signal: AbortSignal;
  stallMs: number;
}

/** Copies a spool to one client as it grows, until its end or until the client leaves. */
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
      const piece = await spool.read(bytes);
      const isWritten = await write(output, piece.bytes, leaving.signal);
      // After a failed write nobody knows who still looks at it.
      piece.release(isWritten && takesBytesAtOnce);
      if (!isWritten) break;
      bytes += piece.bytes.length;
    }
  } finally {
    spool.leave();
    endWatch();
    output.off('close', leave);
    signal.removeEventListener('abort', leave);
  }
  return { bytes, left: leaving.signal.aborted };
}

/** Writes and waits until the output has taken the bytes; answers whether it did. */
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
