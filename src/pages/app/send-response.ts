import { viewerForLog } from '../../access/index.ts';
import { chargeForAnswer, yieldToEventLoop } from '../../kernel/index.ts';
import type { AssetEncoding } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { Context, Middleware } from './context.ts';
import {
  writeCookie,
  type NewCookie,
  policyWithFrames,
  readChallengeCookie,
  readPreferences,
  readProviderCookie,
  setBody,
  readSessionCookie,
} from '../../http/index.ts';
import type { CachedPage, RenderedPages } from './rendered-pages.ts';
import { cacheKey } from './cache-key.ts';
import type { CacheKey } from './cache-key.ts';
import { hasDiagrams } from './diagrams.ts';
import type { Render } from './render.ts';
import type { ContentReply, PageReply, Reply } from './reply.ts';
import { inLanguage } from '../../translation/index.ts';
import { languageOf } from './language.ts';
import { viewFlashMessage } from './flash-messages.view.ts';
import type { AnyContext, PageHandler } from './request-context.ts';

function contextOf(ctx: Context): AnyContext {
  const {
    identity,
    found,
    organisation,
    form,
    takeUpload,
    takeFiles,
    takeContents,
    takeReleaseFiles,
    origin,
    address,
  } = ctx.state;
  const { viewer, person, session, avatarAt } = identity;
  const params = (ctx.params ?? {}) as Record<string, string>;
  const preferences = readPreferences(ctx.req.headers.cookie);
  return {
    method: ctx.method,
    path: ctx.path,
    params,
    query: new URLSearchParams(ctx.querystring),
    form,
    takeUpload,
    takeFiles,
    takeContents,
    takeReleaseFiles,
    viewer,
    person,
    session,
    avatarAt,
    found,
    organisation,
    origin,
    address,
    preferences,
    sessionSecret: readSessionCookie(ctx.req.headers.cookie, origin),
    providerState: readProviderCookie(ctx.req.headers.cookie, origin),
    challengeSecret: readChallengeCookie(ctx.req.headers.cookie, origin),
    bestEncoding: (...offered) => bestEncoding(ctx, offered),
    userAgent: ctx.get('User-Agent').slice(0, 512),
    range: ctx.get('Range'),
    ifRange: ctx.get('If-Range'),
    lastEventId: /^\d{1,15}$/.test(ctx.get('Last-Event-ID')) ? Number(ctx.get('Last-Event-ID')) : null,
  };
}

const bestEncoding = (ctx: Context, offered: AssetEncoding[]): AssetEncoding =>
  (ctx.acceptsEncodings(...offered, 'identity') || 'identity') as AssetEncoding;

function setCookies(ctx: Context, cookies: readonly NewCookie[]): void {
  if (cookies.length > 0) ctx.set('Set-Cookie', cookies.map(writeCookie));
}

/**
 * A page that depends on the viewer is private: shared caches must not store it, and for signed-in users neither may
 * the disk.
 */
function setPageHeaders(ctx: Context, isUnstored: boolean): void {
  ctx.set('Cache-Control', isUnstored ? 'private, no-store' : 'private, no-cache');
  ctx.set('Vary', 'Cookie, Authorization, Accept-Language');
  ctx.type = 'html';
}

function renderPage(ctx: Context, reply: PageReply, request: AnyContext, render: Render, unread: number): string {
  const { preferences, path, origin } = request;
  const frame = { identity: ctx.state.identity, preferences, path, origin, unread };
  // A form may redirect to any page, so any page can show its notice.
  return render(reply.template, frame, { notice: viewFlashMessage(request.query), ...reply.locals });
}

function sendPage(ctx: Context, reply: PageReply, request: AnyContext, html: string): void {
  ctx.status = reply.status;
  if (hasDiagrams(html)) ctx.set('Content-Security-Policy', policyWithFrames);
  ctx.set(reply.headers);
  setCookies(ctx, reply.cookies);
  setPageHeaders(ctx, request.person !== null || reply.showsSecret);
  ctx.state.showsSecret = reply.showsSecret;
  // Encoded once: Koa would measure a long string first and then encode it.
  ctx.body = Buffer.from(html);
}

/** An anonymous client may send its ETag, and gets 304 while the page is unchanged. */
async function sendCached(
  ctx: Context,
  cached: CachedPage,
  { repository, refs }: CacheKey,
  { person }: AnyContext,
): Promise<void> {
  ctx.state.cachedPage = { madeAtMs: cached.madeAtMs, repository, refs };
  ctx.status = 200;
  if (cached.hasDiagrams) ctx.set('Content-Security-Policy', policyWithFrames);
  setPageHeaders(ctx, person !== null);
  ctx.append('Vary', 'Accept-Encoding');
  if (person === null) {
    ctx.set('ETag', cached.etag);
    if (ctx.headers['if-none-match'] !== undefined && ctx.fresh) {
      ctx.status = 304;
      return;
    }
  }
  const encoding = ctx.headers['accept-encoding'] === undefined ? 'identity' : bestEncoding(ctx, ['br', 'gzip']);
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  const type = ctx.response.get('Content-Type');
  ctx.body = await cached.body(encoding);
  // Bytes as a body have their own type.
  ctx.set('Content-Type', type);
}

function sendContent(ctx: Context, reply: ContentReply): void {
  ctx.status = reply.status;
  setBody(ctx, reply.body);
  ctx.set({ 'Cache-Control': 'no-cache', ...reply.headers, 'Content-Type': reply.type });
  // This removes the body, and ends it if it is a stream.
  if (reply.headers.ETag !== undefined && ctx.fresh) ctx.status = 304;
}

function send(ctx: Context, reply: Exclude<Reply, PageReply>): void {
  if (reply.kind === 'content') return sendContent(ctx, reply);
  setCookies(ctx, reply.cookies);
  ctx.set('Cache-Control', reply.status === 301 ? 'no-cache' : 'no-store');
  ctx.redirect(reply.to);
  ctx.status = reply.status;
}

interface PageHandlerOptions {
  deps: WebDeps;
  render: Render;
  /** The cache for pages of this route; null when they are created on each request. */
  rendered: RenderedPages | null;
}

/** Finds the page in the page cache or runs it, and turns its reply into an HTTP response. */
export function sendResponse(page: PageHandler, { deps, render, rendered }: PageHandlerOptions): Middleware {
  return (ctx) => inLanguage(languageOf(ctx, deps.config.locale), () => respond(ctx));

  async function respond(ctx: Context): Promise<void> {
    const request = contextOf(ctx);
    const unreadBefore = rendered === null ? 0 : await deps.notifications.countUnread(request.viewer);
    const key = rendered && (await cacheKey(request, deps, unreadBefore));
    const freshness = { nowMs: deps.clock.now(), state: await deps.db.state() };
    const known = rendered && key !== null ? await rendered.find(key.key, freshness) : null;
    if (known) return sendCached(ctx, known, key!, request);
    const actor = { by: viewerForLog(request.viewer), address: request.address };
    const reply = await deps.audit.as(actor, async () => page(request, deps));
    if (reply.kind !== 'page') return send(ctx, reply);
    // Counted after the page ran, because it may have marked a notification as read.
    const unread = await deps.notifications.countUnread(request.viewer);
    await yieldToEventLoop();
    const html = renderPage(ctx, reply, request, render, unread);
    chargeForAnswer(html.length);
    await yieldToEventLoop();
    const mayKeep =
      rendered &&
      key !== null &&
      reply.dependencies !== null &&
      reply.status === 200 &&
      reply.cookies.length === 0 &&
      !reply.showsSecret;
    // The page may contain refs that changed during the request.
    if (mayKeep && (await cacheKey(request, deps, unread))?.key === key.key)
      return sendCached(ctx, rendered.keep(key.key, html, reply.dependencies!, freshness), key, request);
    sendPage(ctx, reply, request, html);
  }
}
