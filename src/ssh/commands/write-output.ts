import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Writes and waits until there is room for more; rejects when the client is gone. */
export async function send(
  content: string | Buffer,
  { output, signal }: { output: Writable; signal: AbortSignal },
): Promise<void> {
  if (!output.write(content)) await once(output, 'drain', { signal });
}
