import { isDomainError } from '../../kernel/index.ts';

interface Paging {
  limit: number;
  after: string | null;
  before: string | null;
}

const rowsPerPage = 50;

/**
 * One page of a list by `?after=` or `?before=`. An invalid cursor shows the first page: query parameters never cause
 * an error page.
 */
export async function listPage<Result>(
  list: (paging: Paging) => Promise<Result>,
  query: URLSearchParams,
): Promise<Result> {
  const after = query.get('after');
  const before = after === null ? query.get('before') : null;
  try {
    return await list({ limit: rowsPerPage, after, before });
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'invalid_page') throw error;
    return list({ limit: rowsPerPage, after: null, before: null });
  }
}

/** Longer than any valid name. */
const maxFilterLength = 100;

/** The filter of a list, from `?q=`. */
export const readFilter = (query: URLSearchParams): string => (query.get('q') ?? '').trim().slice(0, maxFilterLength);

/** URLs of the previous and next page with the other parameters; empty parameters are omitted. */
export function pageLinks(
  path: string,
  { next, previous }: { next: string | null; previous: string | null },
  chosen: Readonly<Record<string, string>> = {},
): { next: string | null; previous: string | null } {
  const chosenFilters = Object.entries(chosen).filter(([, value]) => value !== '');
  const address = (name: string, key: string): string =>
    `${path}?${new URLSearchParams([...chosenFilters, [name, key]])}`;
  return { next: next && address('after', next), previous: previous && address('before', previous) };
}
