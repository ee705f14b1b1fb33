import type { ErrorCode } from '../../kernel/index.ts';

/**
 * The statuses that programs get for the codes of the house's errors (DESIGN §5). Each protocol has
 * one file of its own that adds its words, and says where it differs.
 */
export const statusOf: Record<ErrorCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  unavailable: 503,
  internal: 500,
};
