import { viewerForLog } from '../../access/index.ts';
import type { AssetEncoding } from '../assets.ts';
import type { Context, Middleware } from '../context.ts';
import { writeCookie, type NewCookie } from '../cookies.ts';
import { readPreferences } from '../preferences.ts';
import type { Render } from '../render.ts';
import type { ContentReply, PageReply, Reply } from '../reply.ts';
import type { WebRooms } from '../rooms.ts';
import { readSessionCookie } from '../session-cookie.ts';
import { viewNotice } from '../views/notices.ts';
import type { AnyVisit, PageHandler } from '../visit.ts';

function visitOf(ctx: Context): AnyVisit {
  const { identity, found, organisation, form, takeUpload, origin, address } = ctx.state;
  const { viewer, person, session, avatarAt } = identity;
  const params = (ctx.params ?? {}) as Record<string, string>;
  const preferences = readPreferences(ctx.req.headers.cookie);
  return {
    method: ctx.method, path: ctx.path, params, query: ctx.URL.searchParams, form, takeUpload,
    viewer, person, session, avatarAt, found, organisation, origin, address, preferences,
    sessionSecret: readSessionCookie(ctx.req.headers.cookie, origin),
    bestEncoding: (...offered) => (ctx.acceptsEncodings(...offered, 'identity') || 'identity') as AssetEncoding,
    userAgent: ctx.get('User-Agent').slice(0, 512),
    lastEventId: /^\d{1,15}$/.test(ctx.get('Last-Event-ID')) ? Number(ctx.get('Last-Event-ID')) : null,
  };
}

function setCookies(ctx: Context, cookies: readonly NewCookie[]): void {
  if (cookies.length > 0) ctx.set('Set-Cookie', cookies.map(writeCookie));
}

function sendPage(ctx: Context, reply: PageReply, visit: AnyVisit, render: Render): void {
  ctx.status = reply.status;
  ctx.set(reply.headers);
  setCookies(ctx, reply.cookies);
  // A page that depends on who looks is nobody else's: neither a cache's nor, when signed in, the disk's.
  ctx.set('Cache-Control', visit.person || reply.showsSecret ? 'private, no-store' : 'private, no-cache');
  ctx.vary('Cookie');
  ctx.vary('Authorization');
  ctx.state.showsSecret = reply.showsSecret;
  const frame = { identity: ctx.state.identity, preferences: visit.preferences, path: visit.path };
  ctx.type = 'html';
  // A form may lead to any page, so any page can say what came of it.
  ctx.body = render(reply.template, frame, { notice: viewNotice(visit.query), ...reply.locals });
}

function sendContent(ctx: Context, reply: ContentReply): void {
  ctx.status = reply.status;
  // Koa, its pipeline and our middlewares all wait for the end of a stream: that is more than ten, and no leak.
  if (!(typeof reply.body === 'string' || Buffer.isBuffer(reply.body))) ctx.res.setMaxListeners(20);
  ctx.body = reply.body;
  ctx.set({ 'Cache-Control': 'no-cache', ...reply.headers, 'Content-Type': reply.type });
  // Takes the body away again, and ends it where it is a stream.
  if (reply.headers.ETag !== undefined && ctx.fresh) ctx.status = 304;
}

function send(ctx: Context, reply: Reply, visit: AnyVisit, render: Render): void {
  if (reply.kind === 'page') return sendPage(ctx, reply, visit, render);
  if (reply.kind === 'content') return sendContent(ctx, reply);
  setCookies(ctx, reply.cookies);
  ctx.set('Cache-Control', reply.status === 301 ? 'no-cache' : 'no-store');
  ctx.redirect(reply.to);
  ctx.status = reply.status;
}

/** Runs the page and turns its reply into an HTTP answer. */
export function answer(page: PageHandler, rooms: WebRooms, render: Render): Middleware {
  return async (ctx) => {
    const visit = visitOf(ctx);
    const actor = { by: viewerForLog(visit.viewer), address: visit.address };
    send(ctx, await rooms.audit.as(actor, async () => page(visit, rooms)), visit, render);
  };
}
