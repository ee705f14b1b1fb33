import { readCookie, type NewCookie } from './cookies.ts';

const providerCookieName = (origin: string): string =>
  origin.startsWith('https://') ? '__Host-hearth-provider' : 'hearth_provider';

/**
 * The encrypted state of a sign-in at a provider, which binds the provider's response to this browser; null without
 * one.
 */
export function readProviderCookie(cookieHeader: string | undefined, origin: string): string | null {
  return readCookie(cookieHeader, providerCookieName(origin)) || null;
}

export function providerCookie(origin: string, sealed: string, ttlMs: number): NewCookie {
  return {
    name: providerCookieName(origin),
    value: sealed,
    maxAgeSeconds: ttlMs / 1000,
    httpOnly: true,
    secure: origin.startsWith('https://'),
  };
}

export const endedProviderCookie = (origin: string): NewCookie => providerCookie(origin, '', 0);
