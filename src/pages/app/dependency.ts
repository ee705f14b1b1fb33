/**
 * A query that a page has made of a module, with its result, which the page shows. The result depends on the database
 * and is not part of the cache key of the page.
 */
export interface Dependency<Value = unknown> {
  readonly value: Value;
  readonly query: () => Promise<Value>;
}

/** Runs a query and records it, so that the page can be cached until the result changes. */
export async function dependOn<Value>(query: () => Promise<Value>): Promise<Dependency<Value>> {
  return { value: await query(), query };
}

const serialize = (value: unknown): string => JSON.stringify(value) ?? '';

/** Whether the query still has the same result. */
export const isCurrent = async ({ value, query }: Dependency): Promise<boolean> =>
  serialize(await query()) === serialize(value);
