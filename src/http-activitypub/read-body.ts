import type { IncomingMessage } from 'node:http';
import { Refusal } from '../http/index.ts';

/**
 * Reads the body as it came, byte for byte: a signature covers exactly these.
 * @param maxBytes refuses with 413 above
 * @param deadlineMs ends the connection of whoever takes longer
 */
export async function readBody(request: IncomingMessage, maxBytes: number, deadlineMs: number): Promise<Buffer> {
  const tooLarge = () => new Refusal(413, 'This is too large.', { Connection: 'close' });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const deadline = setTimeout(() => request.destroy(), deadlineMs);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(deadline);
  }
}
