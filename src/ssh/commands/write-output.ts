import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Writes with backpressure; rejects when the client disconnects. */
export async function send(
  content: string | Buffer,
  { output, signal }: { output: Writable; signal: AbortSignal },
): Promise<void> {
  if (!output.write(content)) await once(output, 'drain', { signal });
}
