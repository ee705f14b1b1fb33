import { readCookie, type NewCookie } from './cookies.ts';

/** Long enough for the ten minutes that a second step may take. */
const maxAgeSeconds = 15 * 60;

const challengeCookieName = (origin: string): string =>
  origin.startsWith('https://') ? '__Host-hearth-sign-in' : 'hearth_sign_in';

/** The secret that binds a sign-in of several steps to this browser; null without one. */
export function readChallengeCookie(cookieHeader: string | undefined, origin: string): string | null {
  return readCookie(cookieHeader, challengeCookieName(origin)) || null;
}

export function challengeCookie(origin: string, secret: string): NewCookie {
  return {
    name: challengeCookieName(origin),
    value: secret,
    maxAgeSeconds: secret === '' ? 0 : maxAgeSeconds,
    httpOnly: true,
    secure: origin.startsWith('https://'),
  };
}

export const endedChallengeCookie = (origin: string): NewCookie => challengeCookie(origin, '');
