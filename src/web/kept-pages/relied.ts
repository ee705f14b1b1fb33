/** Something that a page asked of a room and that follows from the database, beside what its key holds, and the answer that the page shows. */
export interface Relied<Value = unknown> {
  readonly value: Value;
  readonly ask: () => Promise<Value>;
}

/** Asks, and remembers how, so that the page can be kept until the answer is another one. */
export async function rely<Value>(ask: () => Promise<Value>): Promise<Relied<Value>> {
  return { value: await ask(), ask };
}

const spell = (value: unknown): string => JSON.stringify(value) ?? '';

/** Whether a room would answer now what it answered then. */
export const isStill = async ({ value, ask }: Relied): Promise<boolean> => spell(await ask()) === spell(value);
