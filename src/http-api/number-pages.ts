import { currentCharge, invalid } from '../kernel/index.ts';
import { parametersOf } from './loosen-input.ts';
import type { Operation } from './operation.ts';
import type { ApiResponse } from './responses.ts';

/** A numbered page. */
export interface PageLinks {
  page: number;
  limit: number;
  hasNext: boolean;
}

const usualRows = 30;
const mostRows = 100;
/** Later pages are reached by the `Link` of the previous page. */
const mostSkipped = 10_000;
/** Approximate CPU time of skipped rows. */
const msPerSkippedPage = 3;

/**
 * Runs an operation for a numbered page, as Gitea's clients count, whatever its own way of paging: clients read until a
 * page is empty, so a list that ignores `page` never ends. A list paged by keys is read page after page; one in memory
 * is sliced. Throws `page_too_far` if rows exist that far.
 * @param run the operation with another query
 * @returns with the links of a numbered page; null if the result is not a list or no page was requested
 */
export async function runPage(
  operation: Pick<Operation, 'method' | 'query' | 'isPaged'>,
  given: URLSearchParams,
  query: unknown,
  run: (query: unknown) => Promise<ApiResponse<unknown>>,
): Promise<{ response: ApiResponse<unknown>; links: PageLinks | null }> {
  const asked = operation.method === 'GET' ? readPage(given) : null;
  const own = operation.query === undefined ? null : parametersOf(operation.query);
  if (asked === null) return { response: await run(query), links: null };
  const { page, limit } = asked;
  if (own?.has('page')) {
    const response = await run(query);
    const isList = response.kind === 'json' && Array.isArray(response.value);
    return { response, links: isList ? linksOf(response, asked) : null };
  }
  if (operation.isPaged && own?.has('after')) {
    if (given.get('after')) return { response: await run(query), links: null };
    const isTooFar = (page - 1) * limit > mostSkipped;
    // Reads the rows before the page in the largest pages that the operation returns.
    let skipped = isTooFar ? mostSkipped : (page - 1) * limit;
    let from: object = query as object;
    while (skipped > 0) {
      const rows = own.has('limit') ? Math.min(skipped, mostRows) : limit;
      const before = await run({ ...from, ...(own.has('limit') && { limit: rows }) });
      if (before.kind !== 'json' || !Array.isArray(before.value)) return { response: before, links: null };
      currentCharge()?.(msPerSkippedPage);
      if (before.next == null) return { response: { ...before, value: [], next: null }, links: linksOf(null, asked) };
      from = { ...(query as object), after: String(before.next) };
      skipped -= rows;
    }
    if (isTooFar)
      throw invalid('page_too_far', `Pages go as far as ${mostSkipped} rows; follow the Link headers instead.`, {
        field: 'page',
      });
    const response = await run(from);
    return { response, links: linksOf(response, asked) };
  }
  const response = await run(query);
  if (response.kind !== 'json' || !Array.isArray(response.value) || response.next != null)
    return { response, links: null };
  const rows: unknown[] = response.value;
  const value = rows.slice((page - 1) * limit, page * limit);
  const links = { ...asked, hasNext: page * limit < rows.length };
  return { response: { ...response, value, total: response.total ?? rows.length }, links };
}

const linksOf = (response: ApiResponse<unknown> | null, asked: { page: number; limit: number }): PageLinks => ({
  ...asked,
  hasNext: response?.kind === 'json' && response.next != null,
});

/** Null if neither a page nor a number of rows is requested; 0 and invalid numbers mean the default. */
function readPage(given: URLSearchParams): { page: number; limit: number } | null {
  const [page, limit] = ['page', 'limit'].map((name) => {
    const text = given.get(name) ?? '';
    return /^\d+$/.test(text) ? Math.min(Number(text), 1e12) : 0;
  }) as [number, number];
  if (page === 0 && limit === 0) return null;
  return { page: Math.max(page, 1), limit: Math.min(limit || usualRows, mostRows) };
}
