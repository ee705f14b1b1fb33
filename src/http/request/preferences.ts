import { readCookie, type NewCookie } from './cookies.ts';

/** Preferences of a browser without an account: nothing secret, read by the server so that no page flashes. */
export interface Preferences {
  readonly theme: Theme;
  readonly clone: CloneTransport;
  /** Whether single-key shortcuts are enabled (WCAG 2.1.4). */
  readonly keys: ShortcutSetting;
}

export const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

export const cloneTransports = ['https', 'ssh'] as const;
export type CloneTransport = (typeof cloneTransports)[number];

export const shortcutSettings = ['on', 'off'] as const;
type ShortcutSetting = (typeof shortcutSettings)[number];

const themeCookie = 'hearth_theme';
const cloneCookie = 'hearth_clone';
const keysCookie = 'hearth_keys';
const yearSeconds = 365 * 24 * 60 * 60;

/** The known word that equals the text, otherwise the first in the list. */
export function oneOf<Word extends string>(words: readonly [Word, ...Word[]], text: string | null | undefined): Word {
  return words.find((word) => word === text) ?? words[0];
}

export function readPreferences(cookieHeader: string | undefined): Preferences {
  return {
    theme: oneOf(themes, readCookie(cookieHeader, themeCookie)),
    clone: oneOf(cloneTransports, readCookie(cookieHeader, cloneCookie)),
    keys: oneOf(shortcutSettings, readCookie(cookieHeader, keysCookie)),
  };
}

/** The optional script also sets the clone choice, so these cookies are not HttpOnly. */
export function preferenceCookies(preferences: Partial<Preferences>): NewCookie[] {
  const cookies: NewCookie[] = [];
  if (preferences.theme) cookies.push({ name: themeCookie, value: preferences.theme, maxAgeSeconds: yearSeconds });
  if (preferences.clone) cookies.push({ name: cloneCookie, value: preferences.clone, maxAgeSeconds: yearSeconds });
  if (preferences.keys) cookies.push({ name: keysCookie, value: preferences.keys, maxAgeSeconds: yearSeconds });
  return cookies;
}
