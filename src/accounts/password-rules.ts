import { invalid } from '../kernel/index.ts';

const minPasswordCharacters = 8;

/** Hashing reads every byte, so the length of a password is limited. */
const maxPasswordBytes = 1024;

/**
 * The normal form (NFC) in which a password is hashed: another system may send the same letters as other code points.
 * `null` if the text cannot be a password.
 */
export function normalisePassword(password: unknown): string | null {
  if (typeof password !== 'string') return null;
  if (password.length > maxPasswordBytes || Buffer.byteLength(password) > maxPasswordBytes) return null;
  if (password.includes('\0') || !password.isWellFormed()) return null;
  return password.normalize('NFC');
}

/**
 * Validates a new password and returns its normal form. Length is the only rule, because character class rules lead to
 * worse passwords.
 *
 * Throws `invalid`: `password_too_short` (under 8 characters), `password_too_long` (over 1 024 bytes),
 * `password_unusable` (NUL or an unpaired surrogate).
 *
 * @param field the form field of the error
 */
export function parsePassword(password: unknown, field = 'password'): string {
  if (
    typeof password !== 'string' ||
    [...password.slice(0, 2 * minPasswordCharacters)].length < minPasswordCharacters
  ) {
    throw invalid('password_too_short', `A password must have at least ${minPasswordCharacters} characters.`, {
      field,
    });
  }
  if (password.length > maxPasswordBytes || Buffer.byteLength(password) > maxPasswordBytes) {
    throw invalid('password_too_long', `A password can have at most ${maxPasswordBytes} bytes.`, { field });
  }
  const normal = normalisePassword(password);
  if (normal === null) {
    throw invalid('password_unusable', 'A password cannot contain NUL or invalid characters.', { field });
  }
  return normal;
}
