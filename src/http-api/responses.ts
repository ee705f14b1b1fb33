/** What an operation returns; `send-api-response.ts` turns it into bytes. */
export type ApiResponse<Result> =
  | {
      kind: 'json';
      value: Result;
      location?: string;
      /** What continues a list as `?after=`, or a number as `?page=`. */
      next?: string | number | null;
      /** Rows of all pages together, where that is known. */
      total?: number;
      showsSecret?: boolean;
    }
  /** JSON that was made elsewhere and is never remembered by anyone. */
  | { kind: 'live-json'; bytes: Buffer }
  | { kind: 'bytes'; type: string; body: Buffer | NodeJS.ReadableStream; headers: Record<string, string> }
  /** With another status than the usual one, where that tells what was done. */
  | { kind: 'nothing'; status?: 200 | 204 };

export const json = <Result>(value: Result): Extract<ApiResponse<Result>, { kind: 'json' }> => ({
  kind: 'json',
  value,
});

/**
 * One page of a list. @param next what continues it as `?after=`, or a number as `?page=`; null on the last page
 * @param total rows of all pages together, where that is known
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

/** Something new. @param location where it is, below `/api/v1` */
export const created = <Result>(value: Result, location?: string): ApiResponse<Result> =>
  location === undefined ? { kind: 'json', value } : { kind: 'json', value, location };

export const noContent = (): ApiResponse<never> => ({ kind: 'nothing' });
