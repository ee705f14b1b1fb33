/**
 * No inline style or script, nothing from other hosts, no framing (security C04). A page that
 * needs more has to be changed.
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
 * The policy of a page that shows a PDF of this server in itself: browsers that have a viewer for it ask both
 * directives. The file has a sandbox of its own.
 */
export const policyWithObjects = `${contentSecurityPolicy}; object-src 'self'; frame-src 'self'`;

/** The policy of a page that has diagrams drawn in frames of this server. */
export const policyWithFrames = `${contentSecurityPolicy}; frame-src 'self'`;

/**
 * The policy of the page that draws a diagram inside another page: the sandbox of its frame gives it no origin, so the
 * server's is named. It loads its own scripts, may be framed by pages of this server, and reaches nothing.
 * @param origin of the server as the browser knows it
 */
export const diagramPolicy = (origin: string): string =>
  `default-src 'none'; script-src ${origin}; style-src 'unsafe-inline'; frame-ancestors ${origin}`;

/**
 * Headers of every response. `Referrer-Policy: same-origin` and not `no-referrer`:
 * the latter makes browsers send `Origin: null` with forms, which on plain http
 * is all the cross-site check has.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
};
