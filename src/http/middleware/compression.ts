import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Middleware } from '../context.ts';

const compress = promisify(gzip);
const minBytes = 1024;
/** Size in bytes above which bodies are compressed at level 2: half the CPU time for a tenth more bytes. */
const largeBytes = 64 * 1024;
const compressible = /^(?:text\/|application\/(?:json|javascript)|image\/svg\+xml)/;

/**
 * Compresses text above 1 kB, except pages that show a secret, which the length of the compressed page would help to
 * guess. Streams pass unchanged.
 */
export const compressText: Middleware = async (ctx, next) => {
  await next();
  const { body } = ctx;
  const isText = (typeof body === 'string' || Buffer.isBuffer(body)) && compressible.test(ctx.type);
  if (!isText || ctx.state.showsSecret || ctx.response.get('Content-Encoding')) return;
  ctx.vary('Accept-Encoding');
  const bytes = Buffer.byteLength(body);
  if (bytes < minBytes || ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  const type = ctx.response.get('Content-Type');
  ctx.body = await compress(body, { level: bytes > largeBytes ? 2 : 6 });
  ctx.set('Content-Type', type);
  ctx.set('Content-Encoding', 'gzip');
};
