import { z } from 'zod';
import { imageTooLarge, maxImageBytes } from '../images/index.ts';
import type { ImageUpload } from '../images/index.ts';
import { invalid } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { readBytes, HttpError } from '../http/index.ts';
import type { Operation } from './operation.ts';
import { uploadedFile } from './uploaded-file.ts';

const usualJsonBytes = 64 * 1024;
const maxMessage = 300;

/**
 * The query of a call, by its schema. A repeated parameter counts with its first value, except for a list, which has
 * all of them; one that the operation does not know is ignored. Refuses `invalid_input`.
 */
export function readQuery({ query }: Pick<Operation, 'query'>, given: URLSearchParams): unknown {
  if (query === undefined) return undefined;
  const types = typesIn(query);
  const names = [...new Set(given.keys())];
  const values = names.map((name) => {
    const text = given.get(name)!;
    if (types.get(name) === 'array') return [name, given.getAll(name)] as const;
    return [name, types.get(name) === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text] as const;
  });
  return parse(query, Object.fromEntries(values));
}

/** Texts are all that a query has; which of them mean numbers or lists, the schema says. */
const knownTypes = new WeakMap<z.ZodType, Map<string, string | undefined>>();
function typesIn(query: z.ZodType): Map<string, string | undefined> {
  const known = knownTypes.get(query);
  if (known !== undefined) return known;
  const { properties = {} } = z.toJSONSchema(query, { io: 'input' }) as {
    properties?: Record<string, { type?: string }>;
  };
  const types = new Map(Object.entries(properties).map(([name, { type }]) => [name, type]));
  knownTypes.set(query, types);
  return types;
}

/**
 * The body of a call, by its schema. Refuses `invalid_input`, `image_too_large`; with
 * statuses of their own: another type than JSON, more bytes than the operation takes, no JSON.
 */
export async function readBody(
  { body, maxJsonBytes = usualJsonBytes }: Pick<Operation, 'body' | 'maxJsonBytes'>,
  ctx: Context,
): Promise<unknown> {
  if (body === undefined) return undefined;
  if (body === 'file') return uploadedFile(ctx);
  if (ctx.get('Content-Encoding') !== '') throw new HttpError(415, 'Bodies are sent without a Content-Encoding.');
  if (body === 'image') return readImage(ctx);
  if (!ctx.is('application/json')) throw new HttpError(415, 'This takes application/json.');
  const bytes = await readBytes(ctx.req, {
    maxBytes: maxJsonBytes,
    tooLarge: () => new HttpError(413, `This body is larger than ${maxJsonBytes / 1024} KiB.`),
  });
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new HttpError(400, 'This body is not valid JSON.');
  }
  return parse(body, value);
}

/**
 * The value of If-Match, without quotes; null without one, and for `*`, which is true of whatever is there. A list of
 * values is none that a revision has, and so never matches.
 */
export function readIfMatch(ctx: Context): string | null {
  const header = ctx.get('If-Match').trim();
  return header === '' || header === '*' ? null : header.replace(/^"([^"]*)"$/, '$1');
}

async function readImage(ctx: Context): Promise<ImageUpload> {
  const bytes = await readBytes(ctx.req, { maxBytes: maxImageBytes, tooLarge: () => imageTooLarge() });
  return { declaredType: ctx.get('Content-Type'), bytes };
}

function parse(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue!.path.join('.');
  const message = `${field === '' ? '' : `${field}: `}${issue!.message}`.slice(0, maxMessage).toWellFormed();
  throw invalid('invalid_input', message, field === '' ? {} : { field: field.slice(0, maxMessage).toWellFormed() });
}
