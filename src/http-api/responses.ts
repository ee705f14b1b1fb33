/** What an operation returns; `respond.ts` turns it into bytes. */
export type ApiResponse<Result> =
  | { kind: 'json'; value: Result; location?: string; next?: string | null; showsSecret?: boolean }
  /** JSON that was made elsewhere and is never remembered by anybody. */
  | { kind: 'live-json'; bytes: Buffer }
  | { kind: 'bytes'; type: string; body: Buffer | NodeJS.ReadableStream; headers: Record<string, string> }
  | { kind: 'nothing' };

export const json = <Result>(value: Result): ApiResponse<Result> => ({ kind: 'json', value });

/** One page of a list. @param next what continues it as `?after=`, null on the last page */
export const listed = <Item>(items: Item[], next: string | null): ApiResponse<Item[]> => ({
  kind: 'json',
  value: items,
  next,
});

/** Something new. @param location where it is, below `/api/v1` */
export const created = <Result>(value: Result, location?: string): ApiResponse<Result> =>
  location === undefined ? { kind: 'json', value } : { kind: 'json', value, location };

export const nothing = (): ApiResponse<never> => ({ kind: 'nothing' });
