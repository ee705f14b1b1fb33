import type { Config } from '../config/index.ts';
import { createTrustedPeers } from '../http/index.ts';
import type { Context } from '../http/index.ts';

/** Settings are frozen and one object per server, so values derived from them are computed once. */
const peersOf = new WeakMap<Config['proxy'], (address: string) => boolean>();

/**
 * The internal location from which the proxy itself sends a file of the object store (`X-Accel-Redirect` of nginx): if
 * the settings name one, objects are local files, and the request came through a trusted proxy, which gives the address
 * of its client. Otherwise null: this server sends the content.
 */
export function locationForProxy(
  { proxy, objects }: Pick<Config, 'proxy' | 'objects'>,
  ctx: Pick<Context, 'req' | 'method'>,
): string | null {
  const { sendFiles, trusted } = proxy;
  if (sendFiles === null || objects.store !== 'folder' || ctx.method !== 'GET') return null;
  if (ctx.req.headers['x-forwarded-for'] === undefined) return null;
  let isTrusted = peersOf.get(proxy);
  if (isTrusted === undefined) peersOf.set(proxy, (isTrusted = createTrustedPeers(trusted)));
  const address = (ctx.req.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
  return isTrusted(address) ? `${sendFiles.replace(/\/$/, '')}/` : null;
}
