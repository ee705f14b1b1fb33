/** Runners get texts, and convert them by the types in the file; null is like an input that is left empty. */
export const textOfInput = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
