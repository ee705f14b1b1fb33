import type { IncomingMessage } from 'node:http';
import { invalid, isDomainError } from '../../kernel/index.ts';
import { openBody, chunksOf } from '../../http/index.ts';
import type { BodyBudget } from './body-budget.ts';

/** Time in milliseconds without data after which a client counts as stalled. */
const stallMs = 30_000;

/**
 * The bytes of a message as they arrive, decompressed if necessary, and bounded. Throws `unknown_compression`,
 * `message_too_large`, `malformed_message` (invalid or truncated gzip), `message_too_slow`.
 */
export const messageChunks = (request: IncomingMessage, maxBytes: number): AsyncIterable<Buffer> =>
  chunksOf(
    openBody(request, {
      maxBytes,
      tooLarge: () => invalid('message_too_large', 'The message is too large.'),
      gzip: {
        names: ['gzip'],
        unsupported: (coding) =>
          invalid('unknown_compression', `The compression ${coding.slice(0, 40)} is not supported; use gzip.`),
      },
      broken: (cause) =>
        isDomainError(cause)
          ? cause
          : invalid('malformed_message', 'The message is not valid gzip, or ended too early.', { cause }),
      stall: { ms: stallMs, error: () => invalid('message_too_slow', 'The message was not received in time.') },
    }),
  );

/** Reads a whole small message, within the budget of all messages being read. */
export async function readMessage(request: IncomingMessage, maxBytes: number, budget: BodyBudget): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const held = budget.open();
  try {
    for await (const chunk of messageChunks(request, maxBytes)) {
      held.add(chunk.length);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    held.close();
  }
}
