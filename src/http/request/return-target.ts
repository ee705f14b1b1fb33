/**
 * Redirect target after sign-in. Accepts only a path on this server: one leading slash, then neither a slash nor a
 * backslash (browsers read both as another host), and no control characters (browsers drop them before parsing).
 * Anything else becomes the home page. The Referer header is never used.
 */
export function returnTarget(next: string | null | undefined): string {
  return next && next.length <= 2048 && /^\/(?![/\\])[^\u0000-\u001f\u007f-\u009f]*$/u.test(next) ? next : '/';
}
