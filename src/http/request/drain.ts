import type { IncomingMessage } from 'node:http';

interface DrainLimits {
  maxMs: number;
  maxBytes?: number;
}

/**
 * Reads and discards the rest of a body. Closing a connection with unread bytes resets it, and the response is lost; on
 * a persistent connection the body must be read before the next request.
 * @returns whether the body or the connection has ended; false if a limit was reached first
 */
export function drainRequest(request: IncomingMessage, { maxMs, maxBytes = Infinity }: DrainLimits): Promise<boolean> {
  if (request.complete || request.destroyed) return Promise.resolve(true);
  return new Promise((resolve) => {
    let bytes = 0;
    const finish = (hasEnded: boolean): void => {
      clearTimeout(timer);
      request.off('data', count).off('end', end).off('close', end);
      resolve(hasEnded);
    };
    const end = (): void => finish(true);
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) finish(false);
    };
    const timer = setTimeout(() => finish(false), maxMs);
    request.on('data', count).on('end', end).on('close', end);
    request.resume();
  });
}

const defaultMaxMs = 10_000;

/** Drains data from a refused client, in parallel with the response, and closes the connection if it does not stop. */
export function discardBody(request: IncomingMessage, maxMs = defaultMaxMs): void {
  void drainRequest(request, { maxMs }).then((hasEnded) => {
    if (!hasEnded) request.socket.destroy();
  });
}
