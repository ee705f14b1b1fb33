import type { Clock, Logger } from '../../kernel/index.ts';
import type { Exchange } from '../context.ts';

/**
 * Paths may carry a one-time token and queries a setup token, an invite or a
 * search. So the query is never logged, and that token is logged as its pattern.
 */
function loggedPath({ path, state: { routePath } }: Exchange): string {
  return routePath?.includes(':oneTimeToken') ? routePath : path.slice(0, 512);
}

/** What a monitor asks for every few seconds: answers as they should be are no news. */
const probes = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Writes one line per request, unless it already has one, after the last byte was sent or the client has disconnected.
 * Must be called when the request begins.
 */
export function createRequestLog({ logger, clock }: { logger: Logger; clock: Clock }): (exchange: Exchange) => void {
  return (exchange) => {
    const { req, res, state } = exchange;
    const startedAt = clock.now();
    const bytesBefore = req.socket.bytesWritten;
    // Called once, after the last byte or when the client has disconnected.
    res.once('close', () => {
      if (state.isLogged === true) return;
      const { viewer } = state.identity;
      const level = probes.has(exchange.path) && res.statusCode < 400 ? 'debug' : 'info';
      logger[level]('http.request', {
        id: state.requestId,
        method: req.method,
        path: loggedPath(exchange),
        status: res.statusCode,
        ms: clock.now() - startedAt,
        bytes: req.socket.bytesWritten - bytesBefore,
        address: state.address,
        ...(viewer.kind === 'person' ? { person: viewer.id } : {}),
        ...(res.writableFinished ? {} : { end: 'client left' }),
      });
    });
  };
}
