import type { Config } from '../../config/index.ts';
import type { Middleware } from '../context.ts';

/**
 * No inline style or script, nothing from other hosts, no framing. A page that
 * needs more is a page to be changed (web-ui §10).
 */
const contentSecurityPolicy = (images: string): string => [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  `img-src 'self' data:${images}`,
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "manifest-src 'self'",
].join('; ');

/**
 * Headers of every answer. `Referrer-Policy: same-origin` and not `no-referrer`:
 * the latter makes browsers send `Origin: null` with forms, which on plain http
 * is all the cross-site check has.
 */
export const setSecurityHeaders = ({ repositories }: Pick<Config, 'repositories'>): Middleware => {
  const policy = contentSecurityPolicy(repositories.remoteImages ? ' https:' : '');
  return async (ctx, next) => {
    ctx.set({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    });
    await next();
  };
};
