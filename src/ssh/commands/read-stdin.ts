import type { Readable } from 'node:stream';
import { invalid, unavailable } from '../../kernel/index.ts';

/** The same limit as for the text of an issue or a comment. */
const maxBytes = 64 * 1024;
/** Long enough to type a line or two; a user who forgot the text gets a message. */
const maxMs = 60_000;

/**
 * All of a client's standard input as UTF-8. Throws `text_too_long`, `invalid_text`, and `no_text_came` if it does not
 * end within a minute.
 */
export async function readStdin(
  { input, signal }: { input: Readable; signal: AbortSignal },
  limitMs = maxMs,
  mostBytes = maxBytes,
): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  const tooLate = unavailable('no_text_came', 'The text on standard input did not end in time.');
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooLate), limitMs);
  const ended = AbortSignal.any([signal, late.signal]);
  const stop = (): void => void input.destroy(ended.reason as Error);
  ended.addEventListener('abort', stop, { once: true });
  try {
    for await (const part of input as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > mostBytes) throw invalid('text_too_long', `The text can be at most ${mostBytes / 1024} KiB.`);
      parts.push(part);
    }
  } catch (error) {
    throw late.signal.aborted ? tooLate : error;
  } finally {
    clearTimeout(timer);
    ended.removeEventListener('abort', stop);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw invalid('invalid_text', 'The text is not UTF-8.');
  }
}
