import { drainRequest } from '../http/index.ts';
import type { Context } from '../http/index.ts';

/**
 * What a refused client may still send before its connection is closed: the body of an honest sender
 * whose clock is wrong (a Push has 15 to 30 kB) on a slow line, and no more.
 */
const drained = { maxBytes: 64 * 1024, maxMs: 1_000 };

/**
 * Sends the prepared response while the body is still on its way, and closes the connection. The body
 * is never kept.
 */
export function sendEarlyRefusal(ctx: Context): void {
  const { req, res, body } = ctx;
  ctx.respond = false;
  ctx.set({ Connection: 'close', 'Content-Length': String(Buffer.byteLength(body as string)) });
  res.flushHeaders();
  if (body !== '') res.write(body);
  void drainRequest(req, drained).then(() => res.end());
}
