import { invalid } from '../kernel/index.ts';

export const minPasswordCharacters = 8;

/** Hashing reads every byte: nobody gets to send a megabyte of password. */
export const maxPasswordBytes = 1024;

/**
 * The one form in which a password is hashed: the same letters typed on another
 * system may come as other code points. `null` when no password can look so.
 */
export function normalisePassword(password: unknown): string | null {
  if (typeof password !== 'string') return null;
  if (password.length > maxPasswordBytes || Buffer.byteLength(password) > maxPasswordBytes) return null;
  if (password.includes('\0') || !password.isWellFormed()) return null;
  return password.normalize('NFC');
}

/**
 * Checks a password that somebody wants to have, and returns it as it will be hashed.
 * Length is the only demand: rules about kinds of characters make worse passwords.
 *
 * Refuses with `invalid`: `password_too_short` (under 8 characters),
 * `password_too_long` (over 1 024 bytes), `password_unusable` (NUL or half a character).
 *
 * @param field the form field that the refusal belongs to
 */
export function parsePassword(password: unknown, field = 'password'): string {
  if (
    typeof password !== 'string' ||
    [...password.slice(0, 2 * minPasswordCharacters)].length < minPasswordCharacters
  ) {
    throw invalid('password_too_short', `A password needs at least ${minPasswordCharacters} characters.`, { field });
  }
  if (password.length > maxPasswordBytes || Buffer.byteLength(password) > maxPasswordBytes) {
    throw invalid('password_too_long', `A password may have at most ${maxPasswordBytes} bytes.`, { field });
  }
  const normal = normalisePassword(password);
  if (normal === null) {
    throw invalid('password_unusable', 'A password may not contain NUL or broken characters.', { field });
  }
  return normal;
}
