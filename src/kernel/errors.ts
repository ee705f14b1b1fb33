/**
 * The one error class of the house. Rooms throw it; each edge has one file that
 * maps `code` to its protocol (DESIGN §5).
 */

export type ErrorCode =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'unavailable'
  | 'internal';

export interface ErrorDetails {
  /** Form or JSON field that the message belongs to. */
  field?: string;
  /** For `unavailable`: when trying again makes sense, in seconds. */
  retryAfterSeconds?: number;
  /** For the log only; never shown. */
  cause?: unknown;
}

/**
 * A refusal or a fault in words that are safe to show.
 * `reason` is a stable slug (`handle_taken`, `last_owner`) that callers and API
 * clients may rely on; `message` is a sentence for a person.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'DomainError';
    this.code = code;
    this.reason = reason;
    this.field = details.field;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

export function isDomainError(error: unknown): error is DomainError {
  return error instanceof DomainError;
}

/** For a `catch`: null where what is looked for is not there, or hidden; every other error goes on. */
export function nullIfNotFound(error: unknown): null {
  if (isDomainError(error) && error.code === 'not_found') return null;
  throw error;
}

type Maker = (reason: string, message: string, details?: ErrorDetails) => DomainError;

const maker =
  (code: ErrorCode): Maker =>
  (reason, message, details) =>
    new DomainError(code, reason, message, details);

export const invalid = maker('invalid');
export const unauthenticated = maker('unauthenticated');
export const forbidden = maker('forbidden');
export const conflict = maker('conflict');
export const unavailable = maker('unavailable');

/** Hidden and absent things use the same words, so that an answer never tells which it was. */
export function notFound(reason = 'not_found', message = 'Not found'): DomainError {
  return new DomainError('not_found', reason, message);
}

export function internal(message: string, details?: ErrorDetails): DomainError {
  return new DomainError('internal', 'internal', message, details);
}
