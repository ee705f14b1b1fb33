import type { IncomingMessage } from 'node:http';

/** A small body that is not there after so long is not waited for. */
const deadlineMs = 60_000;

/** The bytes of a body as they come. Leaving early keeps the connection, so that the refusal can be read. */
export const bodyOf = (request: IncomingMessage): AsyncIterable<Buffer> =>
  request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;

/**
 * A small body as a whole.
 * @param tooLarge makes what is thrown when there are more than `maxBytes`
 */
export async function readBytes(request: IncomingMessage, maxBytes: number, tooLarge: () => Error): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const deadline = setTimeout(() => request.destroy(), deadlineMs);
  try {
    for await (const chunk of bodyOf(request)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(deadline);
  }
  return Buffer.concat(chunks);
}
