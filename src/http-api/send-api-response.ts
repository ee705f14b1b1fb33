import { createHash } from 'node:crypto';
import type { Context } from '../http/index.ts';
import { setBody } from '../http/index.ts';
import { freeMemory } from '../kernel/index.ts';
import type { ApiResponse } from './responses.ts';
import type { Operation } from './operation.ts';

/**
 * Serializes a response. Responses are private to the caller: a cache may store one to
 * revalidate it by its ETag, and never serves it to another client.
 */
export function sendApiResponse(
  ctx: Context,
  { status, method }: Pick<Operation, 'status' | 'method'>,
  response: ApiResponse<unknown>,
): void {
  ctx.vary('Authorization');
  ctx.set('Cache-Control', 'no-store');
  ctx.status = status;
  if (response.kind === 'nothing') {
    // Otherwise Koa sends the words of the status.
    if (status !== 204) ctx.body = '';
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
    // A thousand responses of 200 kB are made in a second.
    ctx.res.once('finish', () => freeMemory(response.bytes));
    return;
  }
  const text = JSON.stringify(response.value);
  ctx.body = text;

  const { location, next, total, showsSecret = false } = response;
  ctx.state.showsSecret = showsSecret;
  if (location !== undefined) ctx.set('Location', `/api/v1${location}`);
  if (next != null) ctx.set('Link', `<${nextPage(ctx, next)}>; rel="next"`);
  if (total !== undefined) ctx.set('X-Total-Count', String(total));
  if (method !== 'GET' || showsSecret) return;
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.set('ETag', `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`);
  if (ctx.fresh) ctx.status = 304;
}

/** The address of this list with another `after`, or with another number for clients that count pages. */
function nextPage(ctx: Context, next: string | number): string {
  const query = new URLSearchParams(ctx.querystring);
  query.set(typeof next === 'number' ? 'page' : 'after', String(next));
  return `${ctx.state.origin}${ctx.path}?${query}`;
}
