import { isDomainError } from '../../kernel/index.ts';

interface Paging {
  limit: number;
  after: string | null;
}

const rowsPerPage = 50;

/**
 * One page of a list by `?after=`. An address that never was a page shows the
 * first one: query parameters are never a reason for an error page (web-ui §1).
 */
export async function listPage<Result>(
  list: (paging: Paging) => Promise<Result>,
  query: URLSearchParams,
): Promise<Result> {
  const after = query.get('after');
  try {
    return await list({ limit: rowsPerPage, after });
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'invalid_page') throw error;
    return list({ limit: rowsPerPage, after: null });
  }
}
