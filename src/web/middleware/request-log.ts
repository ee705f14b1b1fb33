import type { Clock, Logger } from '../../kernel/index.ts';
import type { Context, Middleware } from '../context.ts';

/**
 * Paths may carry a one-time ticket and queries a setup token, an invite or a
 * search. So the query is never logged, and a ticket is logged as its pattern.
 */
function loggedPath(ctx: Context): string {
  const { routePath } = ctx.state;
  return routePath?.includes(':ticket') ? routePath : ctx.path.slice(0, 512);
}

/** One line per request, written when the last byte has gone or the client has left. */
export function logRequests({ logger, clock }: { logger: Logger; clock: Clock }): Middleware {
  return async (ctx, next) => {
    const startedAt = clock.now();
    const bytesBefore = ctx.req.socket.bytesWritten;
    // Comes once, after the last byte or when the client has left.
    ctx.res.once('close', () => {
      const { viewer } = ctx.state.identity;
      logger.info('http.request', {
        id: ctx.state.requestId,
        method: ctx.method,
        path: loggedPath(ctx),
        status: ctx.status,
        ms: clock.now() - startedAt,
        bytes: ctx.req.socket.bytesWritten - bytesBefore,
        address: ctx.state.address,
        ...(viewer.kind === 'person' ? { person: viewer.id } : {}),
        ...(ctx.res.writableFinished ? {} : { end: 'client left' }),
      });
    });
    await next();
  };
}
