import type { Middleware } from './context.ts';
import { createForm, HttpError } from '../../http/index.ts';

const usualMaxBytes = 64 * 1024;
const maxFields = 100;
const deadlineMs = 60_000;

/**
 * Parsers by limit. The first form loads the library, which with its dependencies is a tenth of what a start would
 * load.
 */
const parsers = new Map<number, ReturnType<typeof loadParser>>();

function parserFor(maxBytes: number): ReturnType<typeof loadParser> {
  const parser = parsers.get(maxBytes) ?? loadParser(maxBytes);
  parsers.set(maxBytes, parser);
  return parser;
}

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError(413, `This form is larger than ${maxBytes / 1024} KiB.`);

async function loadParser(maxBytes: number) {
  const { koaBody } = await import('koa-body');
  return koaBody({
    urlencoded: true,
    json: false,
    text: false,
    multipart: false,
    formLimit: maxBytes,
    parsedMethods: ['POST'] as never,
    patchNode: false,
    // Flat fields only: brackets and dots in names have no meaning, and no name can reach a prototype.
    queryString: {
      plainObjects: true,
      allowDots: false,
      depth: 0,
      parameterLimit: maxFields,
      arrayLimit: maxFields,
      throwOnLimitExceeded: true,
    } as never,
    onError(error) {
      const { status } = error as { status?: number };
      if (status === 413) throw tooLarge(maxBytes);
      if (error instanceof RangeError) throw new HttpError(413, 'This form has more than 100 fields.');
      throw new HttpError(400, 'This form could not be read.');
    },
  });
}

/**
 * Reads a submitted form. It runs after access was decided, so no client can make the server read a body that it will
 * refuse (security B05).
 */
export const readForm =
  (maxBytes = usualMaxBytes): Middleware =>
  async (ctx, next) => {
    if (ctx.method !== 'POST') return next();
    const hasBody =
      ctx.request.length !== 0 && (ctx.request.length !== undefined || ctx.get('Transfer-Encoding') !== '');
    if (hasBody && !ctx.is('urlencoded'))
      throw new HttpError(415, 'Forms must be sent as application/x-www-form-urlencoded.');
    if (ctx.get('Content-Encoding') !== '') throw new HttpError(415, 'Forms must be sent without a Content-Encoding.');
    if ((ctx.request.length ?? 0) > maxBytes) throw tooLarge(maxBytes);

    const parse = await parserFor(maxBytes);
    const deadline = setTimeout(() => ctx.req.destroy(), deadlineMs);
    await parse(ctx as never, async () => {}).finally(() => clearTimeout(deadline));
    const { body } = ctx.request as unknown as { body?: Record<string, string | string[]> };
    ctx.state.form = createForm(body ?? {});
    await next();
  };
