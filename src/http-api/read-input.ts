import type { z } from 'zod';
import { imageTooLarge, maxImageBytes } from '../images/index.ts';
import type { ImageUpload } from '../images/index.ts';
import { invalid } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { readBytes, HttpError } from '../http/index.ts';
import { loosenBody, parametersOf } from './loosen-input.ts';
import type { Operation } from './operation.ts';
import { uploadedFile } from './uploaded-file.ts';

const usualJsonBytes = 64 * 1024;
const maxMessage = 300;

const pagingNames: ReadonlySet<string> = new Set(['page', 'limit']);

/**
 * Parses the query of a call by its schema. Takes the first value of a repeated parameter, except for a list, which
 * takes all; ignores unknown parameters. As in Gitea, an empty parameter means the default, as does 0 where counting
 * begins at 1; an invalid page or limit means the default, and a limit that is too large is capped. Throws
 * `invalid_input`.
 */
export function readQuery({ query }: Pick<Operation, 'query'>, given: URLSearchParams): unknown {
  if (query === undefined) return undefined;
  const parameters = parametersOf(query);
  const values = [...new Set(given.keys())].flatMap((name): (readonly [string, unknown])[] => {
    const parameter = parameters.get(name);
    const text = given.get(name)!;
    if (parameter === undefined) return [];
    if (parameter.type === 'array') return [[name, given.getAll(name)] as const];
    if (text === '' && !parameter.isRequired) return [];
    if (parameter.type === 'boolean') return [[name, readBoolean(text)] as const];
    if (parameter.type !== 'integer') return [[name, text] as const];
    const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = parameter;
    if (pagingNames.has(name)) {
      const number = /^\d+$/.test(text) ? Math.min(Number(text), maximum) : 0;
      return number === 0 ? [] : [[name, number] as const];
    }
    if (!/^-?\d{1,15}$/.test(text)) return [[name, text] as const];
    const number = Number(text);
    if (number === 0 && minimum > 0 && !parameter.isRequired) return [];
    return [[name, number] as const];
  });
  return parse(query, Object.fromEntries(values));
}

const booleans = new Map<string, boolean>([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
const readBoolean = (text: string): boolean | string => booleans.get(text.toLowerCase()) ?? text;

/**
 * Parses the body of a call by its schema, as Gitea does (`loosenBody`). Unknown keys are listed in a `Warning`, or
 * refused if a mistyped one would allow more than intended. Throws `invalid_input`, `image_too_large`; with specific
 * statuses: a type other than JSON, a body that is too large, invalid JSON.
 */
export async function readBody(
  {
    body,
    maxJsonBytes = usualJsonBytes,
    refusesUnknownKeys,
  }: Pick<Operation, 'body' | 'maxJsonBytes' | 'refusesUnknownKeys'>,
  ctx: Context,
): Promise<unknown> {
  if (body === undefined) return undefined;
  if (body === 'file') return uploadedFile(ctx);
  if (ctx.get('Content-Encoding') !== '') throw new HttpError(415, 'Bodies are sent without a Content-Encoding.');
  if (body === 'image') return readImage(ctx);
  if (body === 'text') return (await readWithin(ctx, maxJsonBytes)).toString('utf8');
  if (!ctx.is('application/json')) throw new HttpError(415, 'This takes application/json.');
  const bytes = await readWithin(ctx, maxJsonBytes);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new HttpError(400, 'This body is not valid JSON.');
  }
  const loosened = loosenBody(body, value);
  if (loosened.ignored.length > 0) {
    const names = loosened.ignored.slice(0, 10).map((name) => name.replace(/[^\w.-]/g, '?').slice(0, 50));
    const message = `Unknown keys: ${names.join(', ')}`;
    const refused = names.find((name) => refusesUnknownKeys === true || refusesUnknownKeys?.test(name));
    if (refused !== undefined) throw invalid('invalid_input', `Unrecognized key: ${refused}`, { field: refused });
    ctx.set('Warning', `299 hearth "${message}"`);
  }
  return parse(body, loosened.value);
}

const readWithin = (ctx: Context, maxBytes: number): Promise<Buffer> =>
  readBytes(ctx.req, {
    maxBytes,
    tooLarge: () => new HttpError(413, `This body is larger than ${maxBytes / 1024} KiB.`),
  });

/**
 * The value of If-Match, without quotes; null without one, and for `*`, which always matches. A list of values equals
 * no revision and so never matches.
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
