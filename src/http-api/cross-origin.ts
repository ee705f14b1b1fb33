import type { Context, Middleware } from '../http/index.ts';

/** One day, in seconds. */
const maxAge = 86_400;

/**
 * Lets pages of configured origins call the API (Fetch standard, CORS). Browser credentials are never allowed: a page
 * sends its own token, and the API ignores cookies.
 */
export function crossOrigin(origins: readonly string[]): Middleware {
  const known = new Set(origins);
  return async (ctx: Context, next) => {
    const origin = ctx.get('Origin');
    if (known.size === 0 || origin === '') return next();
    ctx.vary('Origin');
    if (!known.has(origin)) return next();
    ctx.set('Access-Control-Allow-Origin', origin);
    const isPreflight = ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method') !== '';
    if (!isPreflight) {
      ctx.set('Access-Control-Expose-Headers', 'Link, X-Total-Count, Location, ETag, Retry-After, Warning');
      return next();
    }
    ctx.set({
      'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match, If-None-Match',
      'Access-Control-Max-Age': String(maxAge),
    });
    ctx.status = 204;
  };
}
