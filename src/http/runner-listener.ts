import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * What CI runners ask of the web port. They know one address only, that of the web
 * pages, so their calls arrive here; `app/` plugs in what serves them.
 */
export interface RunnerListener {
  /** Serves a request that is a runner's; says whether it was. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  /** Takes over a connection that speaks HTTP/2 from its first byte. */
  handleHttp2(socket: Socket): void;
}

/** Hands the runners' requests to their listener: no cookie, form or redirect has a meaning there. */
export function routeRunnerRequests(runners: RunnerListener | undefined, next: RequestListener): RequestListener {
  if (runners === undefined) return next;
  return (request, response) => {
    if (!runners.handleRequest(request, response)) next(request, response);
  };
}

/** How HTTP/2 begins (RFC 9113, 3.4); no method of HTTP/1 begins so. */
const preface = Buffer.from('PRI');
const firstBytesMs = 15_000;

/**
 * Looks at the first bytes of every connection: one that begins with HTTP/2's preface
 * goes to the runners' listener, all others go on unchanged.
 * @param onHttp2 is called with each that goes there
 * @returns what ends the connections that have sent nothing yet; the server does not
 *   know of them, and would wait for them when it closes
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
      // It was paused by us, so a listener alone does not set it going again.
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
