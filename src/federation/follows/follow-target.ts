/** A parsed follow target. */
type FollowTarget =
  /** `acct:` resource without its prefix: `owner/name@host` or `user@host`. */
  { kind: 'handle'; account: string; host: string } | { kind: 'url'; url: string };

/**
 * Parses `owner/name@host`, `user@host` (either with `@` or `acct:` before it), or an http(s) URL. Only the host is
 * converted to lower case: names belong to the other server. `null` for anything else.
 */
export function parseFollowTarget(text: string): FollowTarget | null {
  const typed = text.trim();
  if (typed.length > 512) return null;
  if (/^https?:\/\//i.test(typed)) return URL.canParse(typed) ? { kind: 'url', url: typed } : null;
  const [, name, host] = /^(?:acct:)?@?([^@\s/]+(?:\/[^@\s/]+)?)@([^@\s/?#]+)$/i.exec(typed) ?? [];
  if (name === undefined || host === undefined || !URL.canParse(`https://${host}`)) return null;
  const known = new URL(`https://${host}`);
  if (known.username !== '' || known.pathname !== '/') return null;
  return { kind: 'handle', account: `${name}@${known.host}`, host: known.host };
}
