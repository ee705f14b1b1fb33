/**
 * Something that a page asked of a room and that follows from the database, beside what its key holds, and the answer
 * that the page shows.
 */
export interface Dependency<Value = unknown> {
  readonly value: Value;
  readonly ask: () => Promise<Value>;
}

/** Asks, and remembers how, so that the page can be kept until the answer is another one. */
export async function dependOn<Value>(ask: () => Promise<Value>): Promise<Dependency<Value>> {
  return { value: await ask(), ask };
}

const serialize = (value: unknown): string => JSON.stringify(value) ?? '';

/** Whether a room would answer now what it answered then. */
export const isCurrent = async ({ value, ask }: Dependency): Promise<boolean> =>
  serialize(await ask()) === serialize(value);
