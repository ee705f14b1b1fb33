import type { Config } from '../config/index.ts';
import { createTrustedPeers } from '../http/index.ts';
import type { Context } from '../http/index.ts';

/** Settings are frozen and one for a server: what is made of them is made once. */
const peersOf = new WeakMap<Config['proxy'], (address: string) => boolean>();

/**
 * The internal location by which the proxy sends a file of the object store by itself (`X-Accel-Redirect` of nginx):
 * where the settings name one, objects are files of this machine, and the request came through a trusted proxy, which
 * gives the address of its client. Null else: the content is sent from here.
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
