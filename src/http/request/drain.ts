import type { IncomingMessage } from 'node:http';

interface DrainLimits {
  maxMs: number;
  maxBytes?: number;
}

/**
 * Reads and drops the rest of a body. Closing a connection with unread bytes resets it, and the
 * response is lost; a connection that is kept needs the body out of the way of its next request.
 * @returns whether the body has ended, or the connection; false when a limit was reached first
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

/**
 * Drains what a refused client is still sending, beside the response, and closes the connection of one that goes on.
 */
export function discardBody(request: IncomingMessage, maxMs = defaultMaxMs): void {
  void drainRequest(request, { maxMs }).then((hasEnded) => {
    if (!hasEnded) request.socket.destroy();
  });
}
