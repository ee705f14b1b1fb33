export type Options = ReadonlyMap<string, string>;

/**
 * Separates the options of a command from its other words. The client's shell has removed quotes, so an option's value
 * extends to the next option. Null if an option occurs twice.
 */
export function splitOptions(words: readonly string[]): { plain: string[]; options: Options } | null {
  const plain: string[] = [];
  const options = new Map<string, string>();
  let current: string | null = null;
  for (const word of words) {
    if (/^--[a-z]+(?:-[a-z]+)*$/.test(word)) {
      if (options.has(word)) return null;
      options.set((current = word), '');
    } else if (current === null) plain.push(word);
    else options.set(current, `${options.get(current)} ${word}`.trim());
  }
  return { plain, options };
}

/** Whether no other options are present. */
export const hasOnly = (options: Options, ...names: string[]): boolean =>
  [...options.keys()].every((name) => names.includes(name));

/** `a, b` as a list. */
export const listIn = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** `7` or `#7`; null for anything else. */
export const numberIn = (text: string): number | null =>
  /^#?\d{1,15}$/.test(text) ? Number(text.replace('#', '')) : null;
