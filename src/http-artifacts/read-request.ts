import { invalid } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { readBytes, HttpError } from '../http/index.ts';

/** Reads a whole small body. Throws if it is too large or too slow. */
export const readSmallBody = (ctx: Context, maxBytes: number): Promise<Buffer> =>
  readBytes(ctx.req, { maxBytes, tooLarge: () => new HttpError(413, 'This request is too large.') });

const maxJsonBytes = 64 * 1024;

/**
 * Reads a JSON object. Keys may be in snake case or camel case, and are returned in snake case. Throws
 * `malformed_json`.
 */
export async function readJson(ctx: Context): Promise<ReadonlyMap<string, unknown>> {
  const bytes = await readSmallBody(ctx, maxJsonBytes);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    value = null;
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalid('malformed_json', 'This request is not a JSON object.');
  return new Map(
    Object.entries(value).map(([name, one]) => [
      name.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase(),
      one,
    ]),
  );
}

/** Reads an integer, sent as a number or as text; null if it is omitted. Throws `malformed_json`. */
export function readInteger(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0)
    throw invalid('malformed_json', 'A number of this request is not a whole number.');
  return number;
}
