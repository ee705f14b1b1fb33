import { isDomainError } from '../kernel/index.ts';

/** For a `catch` of work that a later task repeats; every other error is thrown again. */
export function ignoreUnavailable(error: unknown): void {
  if (!isDomainError(error) || error.code !== 'unavailable') throw error;
}
