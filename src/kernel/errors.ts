/**
 * The only error class of the program. Modules throw it; each transport has one file that maps `code` to its protocol.
 */

export type ErrorCode =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'unavailable'
  | 'internal';

interface ErrorDetails {
  /** Form or JSON field that the message belongs to. */
  field?: string;
  /** For `unavailable`: seconds after which a retry makes sense. */
  retryAfterSeconds?: number;
  /** For `unavailable`: the caller has reached a limit; the server itself has capacity. */
  isRateLimit?: boolean;
  /** For the log only; never shown. */
  cause?: unknown;
}

/**
 * A refusal or a fault with text that is safe to show. `reason` is a stable slug (`handle_taken`, `last_owner`) for
 * callers and API clients; `message` is a sentence for users.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isRateLimit: boolean;

  constructor(code: ErrorCode, reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'DomainError';
    this.code = code;
    this.reason = reason;
    this.field = details.field;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.isRateLimit = details.isRateLimit ?? false;
  }
}

export function isDomainError(error: unknown): error is DomainError {
  return error instanceof DomainError;
}

/** Whether an error is for the client, in words that are safe to show: not a fault of this program. */
export function isRefusal(error: unknown): error is DomainError {
  return isDomainError(error) && error.code !== 'internal';
}

/** For a `catch`: what is done instead for one reason; rethrows other errors. */
export const onReason =
  <T>(reason: string, instead: () => T | Promise<T>) =>
  async (error: unknown): Promise<T> => {
    if (isDomainError(error) && error.reason === reason) return instead();
    throw error;
  };

/** For a `catch`: null for absent and hidden resources; rethrows other errors. */
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

/** A limit of one user, address or network is reached; HTTP responds with 429. */
export function rateLimited(reason: string, message: string, retryAfterSeconds: number): DomainError {
  return new DomainError('unavailable', reason, message, { retryAfterSeconds, isRateLimit: true });
}

/** Hidden and absent resources get the same message, so that a response does not distinguish them. */
export function notFound(reason = 'not_found', message = 'Not found'): DomainError {
  return new DomainError('not_found', reason, message);
}

export function internal(message: string, details?: ErrorDetails): DomainError {
  return new DomainError('internal', 'internal', message, details);
}
