import type { Config } from '../../config/index.ts';
import { readCookie, type NewCookie } from './cookies.ts';

/**
 * On https the `__Host-` prefix makes browsers refuse a session cookie set by a neighbouring host or over plain http.
 * Plain http cannot carry it, so a server on the local network uses another name: the two never mix.
 */
const sessionCookieName = (origin: string): string =>
  origin.startsWith('https://') ? '__Host-hearth' : 'hearth_session';

export function readSessionCookie(cookieHeader: string | undefined, origin: string): string | null {
  return readCookie(cookieHeader, sessionCookieName(origin)) || null;
}

function cookie(origin: string, value: string, maxAgeSeconds: number): NewCookie {
  return {
    name: sessionCookieName(origin),
    value,
    maxAgeSeconds,
    httpOnly: true,
    secure: origin.startsWith('https://'),
  };
}

/** Expires after the longest lifetime of a session; the server ends an idle session earlier. */
export function sessionCookie(origin: string, secret: string, { sessions }: Config): NewCookie {
  return cookie(origin, secret, sessions.lifetimeMs / 1000);
}

export function endedSessionCookie(origin: string): NewCookie {
  return cookie(origin, '', 0);
}
