import { explainFullDisk, isRefusal } from '../kernel/index.ts';
import type { Context, Middleware } from '../http/index.ts';
import { HttpError, httpStatusOf, retryAfter } from '../http/index.ts';
import type { RefusalLog } from './refusal-log.ts';
import { sendEarlyRefusal } from './early-refusal.ts';

// The one place where errors become responses to other servers (SPEC §7).

/** As little as possible: a response never reveals why a signature was refused, or what it is that is not there. */
const wordsOf: Record<number, string> = {
  400: 'bad_request',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
  500: 'internal',
  503: 'unavailable',
};

function prepare(ctx: Context, status: number): void {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  if (status === 401) {
    ctx.set('WWW-Authenticate', 'Signature headers="(request-target) host date digest"');
    ctx.body = '';
    return;
  }
  ctx.type = 'application/json';
  ctx.body = JSON.stringify({ error: { code: wordsOf[status] ?? 'refused' } });
}

/** A sender that is refused without its body being wanted does not get to send it. */
function refuse(ctx: Context, status: number): void {
  prepare(ctx, status);
  if (ctx.method === 'POST' && !ctx.req.complete) sendEarlyRefusal(ctx);
}

/** Turns what a handler throws into a short response, and into a line of the log that says why. */
export function withErrorMapping(log: RefusalLog, handle: (ctx: Context) => Promise<void>): Middleware {
  return async (ctx) => {
    ctx.vary('Accept');
    try {
      await handle(ctx);
    } catch (thrown) {
      const error = explainFullDisk(thrown);
      if (error instanceof HttpError) {
        ctx.set(error.headers);
        return refuse(ctx, error.status);
      }
      if (!isRefusal(error)) throw error;
      const status = httpStatusOf(error);
      ctx.set(retryAfter(status, error, 60));
      if (status !== 404) {
        ctx.state.isLogged = true;
        log.record(error.reason, {
          id: ctx.state.requestId,
          path: ctx.path.slice(0, 512),
          status,
          address: ctx.state.address,
          why: error.message,
        });
      }
      refuse(ctx, status);
    }
  };
}
