import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Writes and waits until there is room for more. */
export async function send(output: Writable, content: string | Buffer): Promise<void> {
  if (!output.write(content)) await once(output, 'drain');
}
