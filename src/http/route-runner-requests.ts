import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of CI runners on the web port. Runners know only the URL of the web pages, so their calls arrive here;
 * `app/` plugs in their handler.
 */
export interface RunnerListener {
  /** Serves a request of a runner; returns whether it was one. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  /** Takes over a connection that uses HTTP/2 from its first byte. */
  handleHttp2(socket: Socket): void;
}

/** Passes requests of runners to their listener, bypassing cookies, forms and redirects. */
export function routeRunnerRequests(runners: RunnerListener | undefined, next: RequestListener): RequestListener {
  if (runners === undefined) return next;
  return (request, response) => {
    if (!runners.handleRequest(request, response)) next(request, response);
  };
}

/** The beginning of HTTP/2 (RFC 9113, 3.4); no method of HTTP/1 starts like it. */
const preface = Buffer.from('PRI');
const firstBytesMs = 15_000;

/**
 * Reads the first bytes of every connection: one with HTTP/2's preface goes to the runners' listener, all others
 * continue unchanged.
 * @param onHttp2 called with each HTTP/2 connection
 * @returns a function that ends connections that have sent nothing yet; the server does not know them, and would wait
 *   for them when it closes
 */
export function splitOffHttp2(
  server: Server,
  runners: RunnerListener | undefined,
  onHttp2: (socket: Socket) => void,
): () => void {
  if (runners === undefined) return () => {};
  const unread = new Set<Socket>();
  const [accept] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    let read: Buffer = Buffer.alloc(0);
    const end = () => socket.destroy();
    const stop = () => {
      clearTimeout(silence);
      unread.delete(socket);
      socket.off('data', onData).off('error', end).off('end', end).off('close', stop).pause();
    };
    const onData = (bytes: Buffer) => {
      read = read.length === 0 ? bytes : Buffer.concat([read, bytes]);
      const seen = read.subarray(0, preface.length);
      if (seen.length < preface.length && seen.equals(preface.subarray(0, seen.length))) return;
      stop();
      socket.unshift(read);
      if (seen.equals(preface)) {
        onHttp2(socket);
        return runners.handleHttp2(socket);
      }
      accept!.call(server, socket);
      // We have paused it, so a listener alone does not resume it.
      socket.resume();
    };
    const silence = setTimeout(end, firstBytesMs);
    unread.add(socket);
    socket.on('data', onData).on('error', end).on('end', end).on('close', stop);
  });
  return () => {
    for (const socket of unread) socket.destroy();
  };
}
