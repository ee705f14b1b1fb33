/** The result of an operation; `send-api-response.ts` serializes it. */
export type ApiResponse<Result> =
  | {
      kind: 'json';
      value: Result;
      location?: string;
      /** Key of the next page as `?after=`, or a number as `?page=`. */
      next?: string | number | null;
      /** Number of rows of all pages, if known. */
      total?: number;
      showsSecret?: boolean;
    }
  /** JSON that another module serialized and that must never be cached. */
  | { kind: 'live-json'; bytes: Buffer }
  | { kind: 'bytes'; type: string; body: Buffer | NodeJS.ReadableStream; headers: Record<string, string> }
  /** A result with another status than the declared one, which tells the caller what happened. */
  | { kind: 'nothing'; status?: 200 | 204 };

export const json = <Result>(value: Result): Extract<ApiResponse<Result>, { kind: 'json' }> => ({
  kind: 'json',
  value,
});

/**
 * One page of a list. @param next key of the next page as `?after=`, or a number as `?page=`; null on the last page
 * @param total number of rows of all pages, if known
 */
export const listed = <Item>(
  items: Item[],
  next: string | number | null,
  total?: number | null,
): ApiResponse<Item[]> => ({
  kind: 'json',
  value: items,
  next,
  ...(total != null && { total }),
});

/** A created resource. @param location its path below `/api/v1` */
export const created = <Result>(value: Result, location?: string): ApiResponse<Result> =>
  location === undefined ? { kind: 'json', value } : { kind: 'json', value, location };

export const noContent = (): ApiResponse<never> => ({ kind: 'nothing' });
