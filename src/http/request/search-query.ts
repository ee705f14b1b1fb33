import { Refusal } from '../refusal.ts';

/** Characters that a query may have. */
export const longestQuery = 256;

/**
 * What somebody searches for: the first `q`, empty when there is none. Refuses with
 * status 400 more than our forms let through (web-ui §12.2).
 */
export function readSearchQuery(query: URLSearchParams): string {
  const text = query.get('q') ?? '';
  if ([...text].length > longestQuery) throw new Refusal(400, `A query has at most ${longestQuery} characters.`);
  return text;
}
