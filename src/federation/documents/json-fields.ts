/**
 * Parsing of foreign documents: lenient input, strict output. JSON-LD is not processed: fields are read literally and
 * `@context` is ignored; the signature covers exactly the bytes that are parsed here.
 */

export type Json = Readonly<Record<string, unknown>>;

/** The value if it is an object and not an array; otherwise an empty object. */
export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** The only element of an array with one element; an array with more is ambiguous and counts as missing. */
function single(value: unknown): unknown {
  return Array.isArray(value) ? (value.length === 1 ? value[0] : undefined) : value;
}

/** The id in a field: an IRI, or an object with one. */
export function idOf(value: unknown): string | null {
  const one = single(value);
  const id = typeof one === 'string' ? one : asObject(one)['id'];
  return typeof id === 'string' ? id : null;
}

/** The object in a field; empty if there is only an IRI. */
export function embedded(value: unknown): Json {
  return asObject(single(value));
}

/** All names in a `type` field. */
export function typesOf(value: unknown): string[] {
  return [value].flat().filter((name): name is string => typeof name === 'string');
}

/** Elements of a collection, of its embedded first page, or of a plain array. */
export function itemsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const object = asObject(value);
  for (const name of ['orderedItems', 'items']) if (Array.isArray(object[name])) return object[name];
  return [];
}

/**
 * Text without surrogate halves, bidirectional controls, and control characters except line breaks, cut to a length.
 */
export function cleanText(value: unknown, maxCharacters: number): string {
  if (typeof value !== 'string') return '';
  return (
    value
      .slice(0, maxCharacters * 2)
      .toWellFormed()
      // eslint-disable-next-line no-control-regex
      .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
      .trim()
      .slice(0, maxCharacters)
      .toWellFormed()
  );
}

/** A git object id, or `null`. */
export function objectId(value: unknown): string | null {
  return typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ? value : null;
}

/** An http(s) URL, unchanged, of at most 2,048 characters without spaces and control characters. */
export function webUrl(value: unknown): URL | null {
  // eslint-disable-next-line no-control-regex
  if (typeof value !== 'string' || value.length > 2_048 || /[\u0000-\u0020\u007f-\u009f]/.test(value)) return null;
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : null;
}
