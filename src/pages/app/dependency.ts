/**
 * A query that a page has made of a module, and its result, which the page shows. The result follows from the
 * database and is not part of the cache key of the page.
 */
export interface Dependency<Value = unknown> {
  readonly value: Value;
  readonly ask: () => Promise<Value>;
}

/** Runs a query and records it, so that the page can be cached until the result changes. */
export async function dependOn<Value>(ask: () => Promise<Value>): Promise<Dependency<Value>> {
  return { value: await ask(), ask };
}

const serialize = (value: unknown): string => JSON.stringify(value) ?? '';

/** Whether the query still has the same result. */
export const isCurrent = async ({ value, ask }: Dependency): Promise<boolean> =>
  serialize(await ask()) === serialize(value);
