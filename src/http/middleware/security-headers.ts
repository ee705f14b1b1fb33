/**
 * No inline style or script, nothing from other hosts, no framing (security C04). A page that needs more must be
 * changed.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "manifest-src 'self'",
].join('; ');

/**
 * The policy of a page that embeds a PDF of this server: browsers with a built-in viewer check both directives. The
 * file has a sandbox of its own.
 */
export const policyWithObjects = `${contentSecurityPolicy}; object-src 'self'; frame-src 'self'`;

/** The policy of a page that embeds frames of this server with diagrams. */
export const policyWithFrames = `${contentSecurityPolicy}; frame-src 'self'`;

/**
 * The policy of the page that draws a diagram inside another page: the sandbox of its frame gives it no origin, so the
 * server's is named. It loads its own scripts, may be framed by pages of this server, and cannot connect to anything.
 * @param origin of the server as the browser knows it
 */
export const diagramPolicy = (origin: string): string =>
  `default-src 'none'; script-src ${origin}; style-src 'unsafe-inline'; frame-ancestors ${origin}`;

/**
 * Headers of every response. `Referrer-Policy: same-origin` instead of `no-referrer`, which makes browsers send
 * `Origin: null` with forms: on plain http the cross-site check has only that header.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
};
