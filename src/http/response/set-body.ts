import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';

/**
 * Sets the body of a response. Koa, its pipeline and our middlewares all listen for the end of a stream: more than the
 * ten listeners above which Node warns, without being a leak.
 */
export function setBody(ctx: Context, body: string | Buffer | Readable | NodeJS.ReadableStream): void {
  if (!(typeof body === 'string' || Buffer.isBuffer(body))) ctx.res.setMaxListeners(20);
  ctx.body = body;
}
