const perPage = 50;
const lastPage = 100_000;

interface NumberedPage<Row> {
  rows: Row[];
  /** URLs of the previous and next page with all other query parameters. */
  next: string | null;
  previous: string | null;
}

/**
 * One page of a list by `?page=`, from 1. An invalid number shows the first page: query parameters never cause an error
 * page.
 * @param list is called for one row more than a page has, so that no count is needed
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
