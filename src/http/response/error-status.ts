import type { DomainError, ErrorCode } from '../../kernel/index.ts';

/**
 * HTTP statuses of error codes, for programs. Each protocol has one file that adds its own texts and differing
 * statuses.
 */
export const httpStatusByErrorCode: Record<ErrorCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  unavailable: 503,
  internal: 500,
};

/** The status of a refusal for which its protocol has none: a limit of the caller is 429. */
export const httpStatusOf = (error: DomainError, byCode: Record<ErrorCode, number> = httpStatusByErrorCode): number =>
  error.isRateLimit ? 429 : byCode[error.code];

/** Sets the time to retry, in whole seconds, for statuses that promise it. */
export function retryAfter(status: number, error: DomainError, otherwiseSeconds = 5): Record<string, string> {
  return status === 503 || status === 429
    ? { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterSeconds ?? otherwiseSeconds))) }
    : {};
}
