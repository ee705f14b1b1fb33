import { HttpError } from '../http-error.ts';

/** Length limit of a query in characters. */
export const longestQuery = 256;

/**
 * The search query: the first `q`, empty if there is none. Throws status 400 if it is longer than the search forms
 * allow.
 */
export function readSearchQuery(query: URLSearchParams): string {
  const text = query.get('q') ?? '';
  if ([...text].length > longestQuery) throw new HttpError(400, `A query can have at most ${longestQuery} characters.`);
  return text;
}
