/** A cookie to set. The value must consist of cookie-safe characters; ours are words and base64url. */
export interface NewCookie {
  name: string;
  value: string;
  /** 0 removes the cookie. */
  maxAgeSeconds: number;
  /** Hidden from scripts. */
  httpOnly?: boolean;
  secure?: boolean;
}

/** The first value of a cookie with this name in a `Cookie` header, or null. */
export function readCookie(header: string | undefined, name: string): string | null {
  for (const part of header?.split(';') ?? []) {
    const equals = part.indexOf('=');
    if (equals !== -1 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return null;
}

/** The `Set-Cookie` header. `Lax` sends the cookie with links from other sites, but not with their form posts. */
export function writeCookie(cookie: NewCookie): string {
  const flags = [
    `${cookie.name}=${cookie.value}`,
    'Path=/',
    `Max-Age=${Math.max(0, Math.floor(cookie.maxAgeSeconds))}`,
    'SameSite=Lax',
  ];
  if (cookie.httpOnly) flags.push('HttpOnly');
  if (cookie.secure) flags.push('Secure');
  return flags.join('; ');
}
