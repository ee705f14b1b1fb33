const perPage = 50;
const lastPage = 100_000;

interface NumberedPage<Row> {
  rows: Row[];
  /** Addresses of the pages beside this one, with everything else that was asked for. */
  next: string | null;
  previous: string | null;
}

/**
 * One page of a list by `?page=`, from 1. What is no number of a page shows the first one:
 * query parameters are never a reason for an error page.
 * @param list one row more than a page has is asked for, so that nothing has to be counted
 */
export async function numberedPage<Row>(
  list: (paging: { limit: number; skip: number }) => Promise<Row[]>,
  query: URLSearchParams,
  path: string,
): Promise<NumberedPage<Row>> {
  const pageText = query.get('page') ?? '';
  const number = /^[1-9]\d{0,5}$/.test(pageText) ? Math.min(Number(pageText), lastPage) : 1;
  const rows = await list({ limit: perPage + 1, skip: (number - 1) * perPage });
  const address = (other: number): string => {
    const others = new URLSearchParams([...query].filter(([name]) => name !== 'page' && name !== 'done'));
    if (other > 1) others.set('page', String(other));
    return others.size === 0 ? path : `${path}?${others}`;
  };
  return {
    rows: rows.slice(0, perPage),
    next: rows.length > perPage ? address(number + 1) : null,
    previous: number > 1 ? address(number - 1) : null,
  };
}
