import type { ErrorCode } from '../../kernel/index.ts';

/**
 * HTTP statuses of error codes, for programs. Each protocol has one file that adds its own texts
 * and the statuses that differ.
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
