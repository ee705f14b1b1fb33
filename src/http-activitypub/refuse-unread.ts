import type { Context } from '../http/index.ts';

/**
 * What a refused client may still send before its connection is cut: the body of an honest sender
 * whose clock is wrong (a Push has 15 to 30 kB) on a slow line, and no more.
 */
const lingerBytes = 64 * 1024;
const lingerMs = 1_000;

/**
 * Sends the prepared answer while the body is still on its way, and closes the connection. The body
 * is never kept. Closing with unread bytes would reset the connection and take the answer with it,
 * so a little of it is thrown away first.
 */
export function refuseUnread(ctx: Context): void {
  const { req, res, body } = ctx;
  ctx.respond = false;
  ctx.set({ Connection: 'close', 'Content-Length': String(Buffer.byteLength(body as string)) });
  res.flushHeaders();
  if (body !== '') res.write(body);
  let bytes = 0;
  const end = (): void => {
    clearTimeout(timer);
    req.off('data', count);
    res.end();
  };
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > lingerBytes) end();
  };
  const timer = setTimeout(end, lingerMs);
  req.on('data', count).once('end', end).once('close', end);
}
