import { HttpError } from '../http-error.ts';

/** Characters that a query may have. */
export const longestQuery = 256;

/**
 * The search query: the first `q`, empty when there is none. Refuses a query that is longer than the search forms
 * allow with status 400.
 */
export function readSearchQuery(query: URLSearchParams): string {
  const text = query.get('q') ?? '';
  if ([...text].length > longestQuery) throw new HttpError(400, `A query can have at most ${longestQuery} characters.`);
  return text;
}
