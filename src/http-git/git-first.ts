import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Random } from '../kernel/index.ts';
import { nobody, externalOrigin, countHostHeaders } from '../http/index.ts';
import type { Exchange, Middleware, createClientReader } from '../http/index.ts';
import type { GitHandler, GitHandlers } from './exchange.ts';

interface Door {
  handlers: GitHandlers;
  random: Random;
  readClient: ReturnType<typeof createClientReader>;
  /** Of every answer. */
  headers: Readonly<Record<string, string>>;
  /** Who wants to know of every request: log and counters. */
  notes: readonly ((exchange: Exchange) => void)[];
}

/** How git spells its requests, for names that need no escapes. */
const spelling =
  /^\/git\/([\w.-]+)\/([\w.-]+)\/(?:(info\/refs)\?(service=git-(?:upload|receive)-pack)|(git-(?:upload|receive)-pack))$/;
const longestUrl = 512;

interface Way {
  method: 'GET' | 'POST';
  routePath: string;
  handle: GitHandler;
}

/**
 * Answers git before the pages' middlewares: to a listing from memory they cost more than
 * all the rest. What they give every answer (id, headers, log line, counts, the client's
 * address) is given here, too; who may read is asked behind both doors. What is spelled in
 * any unusual way goes through the pages and their route table to the same handlers.
 */
export function gitFirst(
  { handlers, random, readClient, headers, notes }: Door,
  pages: RequestListener,
): RequestListener {
  const constant = Object.entries(headers).flat();
  const ways = new Map<string, Way>([
    ['info/refs', { method: 'GET', routePath: '/git/:owner/:name/info/refs', handle: handlers.infoRefs }],
    [
      'git-upload-pack',
      { method: 'POST', routePath: '/git/:owner/:name/git-upload-pack', handle: handlers.uploadPack },
    ],
    [
      'git-receive-pack',
      { method: 'POST', routePath: '/git/:owner/:name/git-receive-pack', handle: handlers.receivePack },
    ],
  ]);
  const isUsualHost = rememberedHost();

  function take(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '' } = request;
    if (!url.startsWith('/git/') || url.length > longestUrl) return false;
    const [, owner, name, listing, querystring = '', service] = spelling.exec(url) ?? [];
    const way = ways.get(listing ?? service ?? '');
    if (owner === undefined || name === undefined || way === undefined) return false;
    if (way.method !== request.method || !isUsualHost(request)) return false;
    const requestId = random.bytes(9).toString('base64url');
    const { address } = readClient(request.socket.remoteAddress ?? '', request.headers);
    const exchange = {
      req: request,
      res: response,
      path: listing === undefined ? url : url.slice(0, url.length - querystring.length - 1),
      params: { owner, name },
      querystring,
      headers: ['X-Request-Id', requestId, ...constant],
      state: { requestId, address, routePath: way.routePath, identity: nobody },
    };
    for (const note of notes) note(exchange);
    // A handler answers whatever happens; what it throws yet breaks one connection and no more.
    way.handle(exchange).catch(() => response.destroy());
    return true;
  }

  return (request, response) => {
    if (!take(request, response)) pages(request, response);
  };
}

/** Whether a request names one host, in good form. Names come again and again, so the last one is kept. */
function rememberedHost(): (request: IncomingMessage) => boolean {
  let good: string | undefined;
  return (request) => {
    const { host } = request.headers;
    if (host === undefined || countHostHeaders(request) !== 1) return false;
    if (host !== good && externalOrigin({ host, forwardedProto: null, baseUrl: null }).kind === 'known') good = host;
    return host === good;
  };
}

/** A handler as a route of the pages' table. */
export const throughPages =
  (handle: GitHandler): Middleware =>
  async (ctx) => {
    const { req, res, state, querystring } = ctx;
    await handle({ req, res, state, querystring, params: ctx.params as Record<string, string>, headers: [] });
    ctx.respond = false;
  };
