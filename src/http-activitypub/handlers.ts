import { pageNumber } from '../federation/index.ts';
import type { CollectionName, Document, Federation } from '../federation/index.ts';
import { notFound } from '../kernel/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { readBytes, HttpError } from '../http/index.ts';
import type { Context, Middleware } from '../http/index.ts';
import { actorTypes } from './content-negotiation.ts';
import { withErrorMapping } from './errors.ts';
import { createRefusalLog } from './refusal-log.ts';

/** What other servers ask for (SPEC §4.6). There are no sessions here, and cookies are ignored. */
export interface FederationHandlers {
  webFinger: Middleware;
  nodeInfoLinks: Middleware;
  nodeInfo: Middleware;
  actor: Middleware;
  outbox: Middleware;
  followers: Middleware;
  repositories: Middleware;
  activity: Middleware;
  note: Middleware;
  inbox: Middleware;
  pairing: Middleware;
  /** Whatever else is below `/ap`: other servers get no page there. */
  nothing: Middleware;
}

const maxActivityBytes = 1024 * 1024;
const maxPairingBytes = 4 * 1024;
const bodyMs = 10_000;

const activityType = 'application/activity+json; charset=utf-8';

export function createFederationHandlers({
  federation,
  logger,
  clock,
}: {
  federation: Federation;
  logger: Logger;
  clock: Clock;
}): FederationHandlers {
  const log = createRefusalLog({ logger, clock });
  const { publications } = federation;

  const publishing = (
    type: string,
    read: (ctx: Context) => Promise<Document>,
    headers: Record<string, string> = {},
  ): Middleware =>
    withErrorMapping(log, async (ctx) => {
      const document = await read(ctx);
      // A repository may turn private at any moment, so no client caches a response without revalidating it.
      ctx.set({ 'Cache-Control': 'no-cache', ...headers });
      ctx.set('Content-Type', type);
      ctx.body = JSON.stringify(document);
    });
  const anywhere = { 'Access-Control-Allow-Origin': '*' };
  const collection = (name: CollectionName): Middleware =>
    publishing(activityType, (ctx) =>
      publications.collection(actorPath(ctx, 1), name, pageNumber(ctx.URL.searchParams.get('page'))),
    );

  const actor = withErrorMapping(log, async (ctx) => {
    const document = await publications.actorOrId(ctx.path);
    ctx.set({ 'Cache-Control': 'no-cache' });
    // Under its own id only: this name may belong to another repository tomorrow.
    if (typeof document === 'string') {
      ctx.redirect(document);
      ctx.status = 301;
      return;
    }
    ctx.set('Content-Type', activityType);
    ctx.body = JSON.stringify(document);
  });
  const readNote = (ctx: Context) => publications.note(actorPath(ctx, 2), ctx.path.split('/').at(-1)!);
  const note = publishing(activityType, readNote);
  const redirecting = (read: (ctx: Context) => Promise<Document>) =>
    withErrorMapping(log, async (ctx) => {
      const { url } = await read(ctx);
      if (typeof url !== 'string') throw notFound();
      ctx.set('Cache-Control', 'no-cache');
      ctx.redirect(url);
      ctx.status = 303;
    });

  const redirectToPage = redirecting((ctx) => publications.actor(ctx.path));
  const redirectToNotePage = redirecting(readNote);

  return {
    webFinger: publishing(
      'application/jrd+json; charset=utf-8',
      (ctx) => publications.webFinger(ctx.URL.searchParams.get('resource')),
      anywhere,
    ),
    nodeInfoLinks: publishing('application/json; charset=utf-8', () => publications.nodeInfoLinks(), anywhere),
    nodeInfo: publishing(
      'application/json; profile="http://nodeinfo.diaspora.software/ns/schema/2.1#"; charset=utf-8',
      () => publications.nodeInfo(),
      anywhere,
    ),
    // A browser that follows the id of an actor gets the page.
    actor: async (ctx, next) => (wantsPage(ctx) ? redirectToPage(ctx, next) : actor(ctx, next)),
    outbox: collection('outbox'),
    followers: collection('followers'),
    repositories: collection('repositories'),
    activity: publishing(activityType, (ctx) => publications.activity(actorPath(ctx, 2), ctx.path.split('/').at(-1)!)),

    // People who follow the link of a note get the page that it is about.
    note: async (ctx, next) => (wantsPage(ctx) ? redirectToNotePage(ctx, next) : note(ctx, next)),

    inbox: withErrorMapping(log, async (ctx) => {
      // Before the body is read, and the same for hidden and absent (SPEC §4.6).
      if (!(await publications.hasInbox(actorPath(ctx, 1)))) throw notFound();
      const { method = 'POST', url = '', rawHeaders } = ctx.req;
      await federation.receive({
        method,
        target: url,
        rawHeaders,
        address: ctx.state.address,
        readBody: (maxBytes = maxActivityBytes) => readBody(ctx, maxBytes),
      });
      ctx.status = 202;
      ctx.body = '';
    }),
    nothing: withErrorMapping(log, async () => {
      throw notFound();
    }),
    pairing: withErrorMapping(log, async (ctx) => {
      if (!federation.isOperational) throw notFound();
      await federation.receivePairing(await readBody(ctx, maxPairingBytes));
      ctx.status = 202;
      ctx.body = '';
    }),
  };
}

/** The body byte for byte: a signature covers exactly these. */
const readBody = (ctx: Context, maxBytes: number): Promise<Buffer> =>
  readBytes(ctx.req, {
    maxBytes,
    deadlineMs: bodyMs,
    tooLarge: () => new HttpError(413, 'This is too large.', { Connection: 'close' }),
  });

/** Only who names HTML before the types of actors: programs that take anything get the document. */
const wantsPage = (ctx: Context): boolean =>
  ctx.accepts(...actorTypes, 'application/json', 'text/html') === 'text/html';

/** The path of the actor that a request is about: its own, without the last parts. */
function actorPath(ctx: Context, lastParts: number): string {
  return ctx.path.split('/').slice(0, -lastParts).join('/');
}
