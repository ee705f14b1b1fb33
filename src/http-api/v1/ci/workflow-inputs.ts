/** Converts inputs to text for runners, which parse it by the types in the file; null counts as an empty input. */
export const textOfInput = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
