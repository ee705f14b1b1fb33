import { isDomainError } from '../kernel/index.ts';

/** Error handler for work that a later task repeats: ignores `unavailable`, and throws every other error again. */
export function ignoreUnavailable(error: unknown): void {
  if (!isDomainError(error) || error.code !== 'unavailable') throw error;
}
