import { invalid } from '../../kernel/index.ts';

const maxNameLength = 255;

/**
 * Explains why a name of an environment is invalid; null for a valid one. Names are path segments of URLs, so `.` and
 * `..` are invalid.
 */
export function faultOfEnvironmentName(text: string): string | null {
  const name = text.trim();
  if (name === '') return 'The name of the environment is empty.';
  if (name.length > maxNameLength) return `The name of an environment has at most ${maxNameLength} characters.`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\'"`,;]/u.test(name) || !name.isWellFormed())
    return 'The name of an environment has no control characters, quotes, commas, semicolons or backslashes.';
  if (name.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return 'No part of the name of an environment is empty, "." or "..".';
  return null;
}

/** Returns the name in stored form. Throws `invalid_environment_name`. */
export function parseEnvironmentName(text: string): string {
  const fault = faultOfEnvironmentName(text);
  if (fault !== null) throw invalid('invalid_environment_name', fault, { field: 'name' });
  return text.trim();
}

/** The name in the path of a page; keeps slashes. */
export const environmentPath = (name: string): string => name.split('/').map(encodeURIComponent).join('/');

/** Names ignore case. */
export const foldEnvironmentName = (name: string): string => name.trim().toLowerCase();
