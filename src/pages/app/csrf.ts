import type { Context, Middleware } from './context.ts';
import { HttpError } from '../../http/index.ts';

interface CrossSiteInput {
  method: string;
  /** The `Sec-Fetch-Site` header: browsers send it to https and to localhost. */
  fetchSite: string | undefined;
  /** The `Origin` header: the only sign on plain http. */
  origin: string | undefined;
  /** The `Referer` header: older browsers send it instead of `Origin`. */
  referer?: string | undefined;
  /** The origin of this server as browsers use it. */
  expectedOrigin: string;
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a state-changing request comes from one of our own pages. There are no form tokens: browsers send the origin
 * of a request, and pages cannot forge it. A client that sends none of these headers is not a browser, so no user's
 * cookie can have been abused, and it may pass (security D01).
 */
export function isSameSite({ method, fetchSite, origin, referer, expectedOrigin }: CrossSiteInput): boolean {
  if (safeMethods.has(method)) return true;
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none';
  if (origin !== undefined) return origin === expectedOrigin;
  // A referrer policy can leave it empty.
  if (referer) return URL.canParse(referer) && new URL(referer).origin === expectedOrigin;
  return true;
}

/**
 * Refuses forms that another site made a browser send. It runs only before routes that read the session cookie: routes
 * with their own credentials ignore cookies.
 */
export const refuseCrossSite: Middleware = async (ctx: Context, next) => {
  const origin = ctx.req.headers.origin;
  const fetchSite = ctx.req.headers['sec-fetch-site'];
  const accepted = isSameSite({
    method: ctx.method,
    fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
    origin,
    referer: ctx.req.headers.referer,
    expectedOrigin: ctx.state.origin,
  });
  if (!accepted) {
    throw new HttpError(
      403,
      `This form was sent from ${origin ?? 'another site'}, but the address of this server is ${ctx.state.origin}, so Hearth rejected it. If the server is behind a reverse proxy, configure the proxy to forward the Host header and to set X-Forwarded-Proto.`,
    );
  }
  await next();
};
