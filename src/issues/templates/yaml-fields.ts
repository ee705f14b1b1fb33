/** Why a file is not a valid template, for its author. */
export class TemplateFault extends Error {}

export type Values = Readonly<Record<string, unknown>>;

export const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A single-line text, or ''; also accepts YAML numbers and words. */
export function readText(values: Values, name: string, longest = 500): string {
  const value = values[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value.trim().slice(0, longest) : '';
}

export const readFlag = (values: Values, name: string): boolean => values[name] === true || values[name] === 'true';

/** A list of texts, or one text with commas: front matter has both. */
export function readNames(values: Values, name: string, most: number): string[] {
  const value = values[name];
  const given = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
  const names = given.flatMap((each: unknown) =>
    typeof each === 'string' || typeof each === 'number' ? [withoutQuotes(String(each).trim()).slice(0, 100)] : [],
  );
  return [...new Set(names.filter((each) => each !== ''))].slice(0, most);
}

/** In a text with commas, as in `enhancement, "help wanted"`, YAML keeps the quotes. */
const withoutQuotes = (name: string): string => /^(["'])(.*)\1$/.exec(name)?.[2]?.trim() ?? name;
