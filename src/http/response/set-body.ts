import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';

/**
 * Gives a response its bytes. Koa, its pipeline and our middlewares all wait for the end
 * of a stream: that is more than the ten listeners which Node warns of, and no leak.
 */
export function setBody(ctx: Context, body: string | Buffer | Readable | NodeJS.ReadableStream): void {
  if (!(typeof body === 'string' || Buffer.isBuffer(body))) ctx.res.setMaxListeners(20);
  ctx.body = body;
}
