import type { Context, Middleware } from './context.ts';
import { HttpError } from '../../http/index.ts';

interface CrossSiteInput {
  method: string;
  /** The `Sec-Fetch-Site` header: browsers send it to https and to localhost. */
  fetchSite: string | undefined;
  /** The `Origin` header: all that is left on plain http. */
  origin: string | undefined;
  /** The `Referer` header: what old browsers send instead of `Origin`. */
  referer?: string | undefined;
  /** This server as the browser sees it. */
  expectedOrigin: string;
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request that changes something was made from one of our own pages.
 * There are no form tokens: browsers say where a request comes from, and pages
 * cannot forge it. A client that says none of it is no browser, so no cookie of a
 * person can have been abused, and it may pass (security D01).
 */
export function isSameSite({ method, fetchSite, origin, referer, expectedOrigin }: CrossSiteInput): boolean {
  if (safeMethods.has(method)) return true;
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none';
  if (origin !== undefined) return origin === expectedOrigin;
  // An empty one is what a referrer policy leaves.
  if (referer) return URL.canParse(referer) && new URL(referer).origin === expectedOrigin;
  return true;
}

/**
 * Refuses forms that another site made a browser send. It runs before every
 * route that reads the session cookie, and only there: routes with their own
 * credentials ignore cookies.
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
      `This form came from ${origin ?? 'another site'}, but this server is ${ctx.state.origin}, so nothing was done. ` +
        'If you are behind a reverse proxy, let it pass on the Host header and set X-Forwarded-Proto.',
    );
  }
  await next();
};
