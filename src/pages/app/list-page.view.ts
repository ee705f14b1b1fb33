import { isDomainError } from '../../kernel/index.ts';

interface Paging {
  limit: number;
  after: string | null;
  before: string | null;
}

const rowsPerPage = 50;

/**
 * One page of a list by `?after=` or `?before=`. An address that never was a page shows the
 * first one: query parameters are never a reason for an error page.
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

/** Long enough for any name that there can be. */
const maxFilterLength = 100;

/** What a list is narrowed to, by `?q=`. */
export const readFilter = (query: URLSearchParams): string => (query.get('q') ?? '').trim().slice(0, maxFilterLength);

/** Addresses of the pages beside one, with what else was chosen; what is empty is left out. */
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
