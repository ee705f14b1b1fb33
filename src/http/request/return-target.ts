/**
 * Where to go after signing in. Only a path on this server is taken: one leading
 * slash, then neither a slash nor a backslash (browsers read both as another
 * host), and no control characters (they are dropped before a browser parses).
 * Anything else becomes the home page. The Referer header is never asked.
 */
export function returnTarget(next: string | null | undefined): string {
  return next && next.length <= 2048 && /^\/(?![/\\])[^\u0000-\u001f\u007f-\u009f]*$/u.test(next) ? next : '/';
}
