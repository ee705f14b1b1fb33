import type { Context } from '../http/index.ts';
import { setBody } from '../http/index.ts';
import { chargeForAnswer, freeMemory } from '../kernel/index.ts';
import { digestOf, jsonInPieces } from './json-in-pieces.ts';
import type { ApiResponse } from './responses.ts';
import type { PageLinks } from './number-pages.ts';
import type { Operation } from './operation.ts';

/**
 * Serializes a response. Responses are private to the caller: a cache may store one to revalidate it by its ETag, but
 * never serves it to another client.
 */
export async function sendApiResponse(
  ctx: Context,
  { status, method, older }: Pick<Operation, 'status' | 'method' | 'older'>,
  response: ApiResponse<unknown>,
  links: PageLinks | null = null,
): Promise<void> {
  ctx.vary('Authorization');
  ctx.set('Cache-Control', 'no-store');
  ctx.status = status;
  if (response.kind === 'nothing') {
    ctx.status = response.status ?? status;
    // Otherwise Koa sends the status text.
    if (ctx.status !== 204) ctx.body = '';
    return;
  }
  if (response.kind === 'bytes') {
    ctx.set({ ...response.headers, 'Content-Type': response.type });
    setBody(ctx, response.body);
    return;
  }
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  if (response.kind === 'live-json') {
    ctx.body = response.bytes;
    // Frees memory at once: the server can send a thousand responses of 200 kB per second.
    ctx.res.once('finish', () => freeMemory(response.bytes));
    return;
  }
  const pieces = await jsonInPieces(
    older !== undefined && asksForOlder(ctx) ? older(response.value as never) : response.value,
  );
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  chargeForAnswer(length);
  ctx.body = Buffer.concat(pieces, length);

  const { location, next, total, showsSecret = false } = response;
  ctx.state.showsSecret = showsSecret;
  if (location !== undefined) ctx.set('Location', `/api/v1${location}`);
  const known = total ?? totalOf(response, links, ctx);
  const link = linkHeader(ctx, next ?? null, links, known);
  if (link !== '') ctx.set('Link', link);
  if (known !== undefined) ctx.set('X-Total-Count', String(known));
  if (method !== 'GET' || showsSecret) return;
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.set('ETag', `W/"${(await digestOf(pieces)).slice(0, 22)}"`);
  if (ctx.fresh) ctx.status = 304;
}

const olderType = 'application/vnd.hearth.v0+json';

/** Varies by media type, so that no cache confuses the two forms. */
function asksForOlder(ctx: Context): boolean {
  ctx.vary('Accept');
  if (!ctx.get('Accept').toLowerCase().includes(olderType)) return false;
  ctx.set('Content-Type', `${olderType}; charset=utf-8`);
  return true;
}

/** Number of rows of all pages if the response reveals it by containing the last one. */
function totalOf(response: ApiResponse<unknown>, links: PageLinks | null, ctx: Context): number | undefined {
  if (response.kind !== 'json' || ctx.method !== 'GET' || !Array.isArray(response.value)) return undefined;
  if (links === null) return response.next == null && !ctx.query['after'] ? response.value.length : undefined;
  const isLast = !links.hasNext && (response.value.length > 0 || links.page === 1);
  return isLast ? (links.page - 1) * links.limit + response.value.length : undefined;
}

/** As in Gitea for numbered pages; only by `after` for pages by keys. */
function linkHeader(
  ctx: Context,
  next: string | number | null,
  links: PageLinks | null,
  total: number | undefined,
): string {
  const to = (name: 'page' | 'after', value: string | number, rel: string): string => {
    const query = new URLSearchParams(ctx.querystring);
    query.set(name, String(value));
    return `<${ctx.state.origin}${ctx.path}?${query}>; rel="${rel}"`;
  };
  if (links === null || (links.page === 1 && !ctx.query['page'])) {
    if (next === null && !links?.hasNext) return '';
    const last = links === null || total === undefined ? 0 : Math.ceil(total / links.limit);
    if (next !== null)
      return [
        to(typeof next === 'number' ? 'page' : 'after', next, 'next'),
        // By number: the pages in between need not be read.
        ...(last > 1 ? [to('page', last, 'last')] : []),
      ].join(',');
  }
  const { page, limit, hasNext } = links!;
  return [
    ...(hasNext ? [to('page', page + 1, 'next')] : []),
    ...(hasNext && total !== undefined ? [to('page', Math.ceil(total / limit), 'last')] : []),
    ...(page > 1 ? [to('page', 1, 'first'), to('page', page - 1, 'prev')] : []),
  ].join(',');
}
