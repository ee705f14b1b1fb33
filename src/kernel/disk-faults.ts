import { isRefusal, unavailable } from './errors.ts';
import type { DomainError } from './errors.ts';

const fullCodes = new Set(['ENOSPC', 'EDQUOT']);
/**
 * Messages of the C library, git and SQLite, in the locale in which they are started. git names no cause if it created
 * the lock file of a ref but could not write the id into it.
 */
const fullWords =
  /No space left on device|Disk quota exceeded|\bENOSPC\b|\bEDQUOT\b|database or disk is full|couldn't write '[^']*\.lock'/;
/** SQLite's messages for a corrupt file (SQLITE_CORRUPT, SQLITE_NOTADB). */
const damagedWords = /database disk image is malformed|malformed database schema|file is not a database/;
const deepest = 8;

/** Whether a text of another program, such as the stderr of git, reports a full disk. */
export const saysDiskFull = (text: string): boolean => fullWords.test(text);

/** Whether an error, or one of its causes, is a full disk: also an exhausted quota, or no free inodes. */
export const isDiskFull = (error: unknown): boolean =>
  isCausedBy(error, saysDiskFull, (code) => fullCodes.has(String(code)));

/** Whether an error, or one of its causes, is a corrupt SQLite file. */
export const isDamagedDatabase = (error: unknown): boolean => isCausedBy(error, (text) => damagedWords.test(text));

/** Whether a text or code of an error, or of one of its causes, is the wanted one. */
function isCausedBy(
  error: unknown,
  says: (text: string) => boolean,
  hasCode: (code: unknown) => boolean = () => false,
): boolean {
  let at: unknown = error;
  for (let depth = 0; depth < deepest; depth += 1) {
    if (typeof at === 'string') return says(at);
    if (typeof at !== 'object' || at === null) return false;
    const { code, message, errorText, cause } = at as Record<string, unknown>;
    if (hasCode(code)) return true;
    for (const text of [message, errorText]) if (typeof text === 'string' && says(text)) return true;
    at = cause;
  }
  return false;
}

/** The error for every protocol; a client may retry automatically. */
export function diskFull(cause?: unknown): DomainError {
  return unavailable('disk_full', 'The disk of the server is full: nothing was changed. Try again later.', {
    retryAfterSeconds: 60,
    cause,
  });
}

/**
 * Converts a fault by a full disk into its domain error; returns every other error unchanged. For code that maps
 * errors.
 */
export function explainFullDisk(error: unknown): unknown {
  if (isRefusal(error)) return error;
  return isDiskFull(error) ? diskFull(error) : error;
}
