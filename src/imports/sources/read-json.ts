/** Reads values of untrusted JSON: invalid values become empty ones instead of errors. */

export type Json = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(objectOf) : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const flagOf = (value: unknown): boolean => value === true;

/** A positive whole number; null for anything else. */
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;

/** An id, which forges give as a number or a text; empty if missing. */
export const idOf = (value: unknown): string =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value).slice(0, 200);

/** Epoch milliseconds; null for an invalid time, and for year 1, which forges use for an unset time. */
export function timeOf(value: unknown): number | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) || at < 0 ? null : at;
}

/** The day of a time, in UTC: `2026-01-31`; null for an invalid time, and for a year of five digits. */
export function dayOf(value: unknown): string | null {
  const at = timeOf(value);
  return at === null ? null : dateOf(new Date(at).toISOString().split('T')[0]);
}

/** A day as forges write it: `2026-01-31`; null for anything else, and for a day that no month has. */
export function dateOf(value: unknown): string | null {
  const text = textOf(value);
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? text : null;
}

/** The full id of a commit; null for anything else. */
export const oidOf = (value: unknown): string | null => {
  const text = textOf(value);
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null;
};

/** An object with the path of a repository, `owner/name`; empty if the value is not such a path. */
export const projectOf = (value: unknown): { project?: string } => {
  const text = textOf(value);
  return text.length <= 500 && /^[\w.-]+(?:\/[\w.-]+)+$/.test(text) ? { project: text } : {};
};

/** The address of a picture as a list; empty for anything else. */
export const picturesOf = (value: unknown): string[] => {
  const url = URL.parse(textOf(value).slice(0, 2_000));
  return url !== null && /^https?:$/.test(url.protocol) ? [url.href] : [];
};

/** Six hex digits; grey for anything else. */
export const colourOf = (value: unknown): string => {
  const text = textOf(value).replace(/^#/, '').toLowerCase();
  if (/^[0-9a-f]{6}$/.test(text)) return text;
  return /^[0-9a-f]{3}$/.test(text) ? text.replace(/./g, '$&$&') : 'ededed';
};
