import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Config } from '../config/index.ts';
import type { Random } from '../kernel/index.ts';
import { anonymousIdentity, countHostHeaders, createHostTrust, externalOrigin } from '../http/index.ts';
import type { Client, Exchange, createClientReader } from '../http/index.ts';
import type { GitHandlers } from './git-exchange.ts';

interface ListenerOptions {
  handlers: GitHandlers;
  random: Random;
  readClient: ReturnType<typeof createClientReader>;
  /** `baseUrl`: the configured URL of this server; null if each request determines it. */
  config: Pick<Config, 'baseUrl' | 'federation'>;
  /** Headers of every response. */
  headers: Readonly<Record<string, string>>;
  /** Called when a request begins: log, metrics, admission. */
  onRequest: readonly ((exchange: Exchange) => void)[];
}

/** Longer URLs cannot name a repository and are refused like all others that are too long. */
const maxUrlLength = 4096;
const repository = '/git/:owner/:name';

/** Route patterns of git over HTTP, for log and metrics. */
export const gitRoutes = [
  { method: 'GET', path: `${repository}/info/refs`, handler: 'infoRefs' },
  { method: 'POST', path: `${repository}/git-upload-pack`, handler: 'uploadPack' },
  { method: 'POST', path: `${repository}/git-receive-pack`, handler: 'receivePack' },
  // Prefixes of all URLs at which git finds a repository: git-lfs does not follow the redirects that git follows.
  { method: 'ANY', path: `${repository}/info/lfs/{*operation}`, handler: 'lfs' },
  { method: 'ANY', path: '/repos/:owner/:name/info/lfs/{*operation}', handler: 'lfs' },
  { method: 'ANY', path: '/:owner/:name/info/lfs/{*operation}', handler: 'lfs' },
] as const;

/** A route's path as an expression whose groups are owner and name. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/:\w+/g, '([^/]+)').replace('/{*operation}', '(?:/(.*))?')}$`);

/**
 * Listener for git over HTTP, before Koa: the middlewares of pages cost more than the whole rest of a listing from the
 * ref cache. It also provides what they do for every response (id, headers, log line, counts, the client's address);
 * the handlers check access.
 *
 * A request that every page would refuse, because its Host is not a single valid name or its URL cannot be decoded, is
 * passed on and refused there.
 */
export function createGitListener(
  { handlers, random, readClient, config, headers, onRequest }: ListenerOptions,
  next: RequestListener,
): RequestListener {
  const routes = gitRoutes.map(({ method, path, handler }) => ({
    method,
    path,
    pattern: patternOf(path),
    handle: handlers[handler],
    refuse: method === 'ANY' ? handlers[handler] : handlers.refuseMethod(method),
  }));
  const constantHeaders = Object.entries(headers).flat();
  const challenge = challengeOf(config);
  const isHostAcceptable = createHostCheck(createHostTrust(config));

  function take(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '' } = request;
    const isCandidate = url.startsWith('/git/') || url.includes('/info/lfs');
    if (!isCandidate || url.length > maxUrlLength) return false;
    const queryAt = url.indexOf('?');
    const path = queryAt === -1 ? url : url.slice(0, queryAt);
    const querystring = queryAt === -1 ? '' : url.slice(queryAt + 1);
    for (const route of routes) {
      const found = route.pattern.exec(path);
      if (found === null) continue;
      const params = decodeNames(url, found);
      const client = readClient(request.socket.remoteAddress ?? '', request.headers);
      if (params === null || !isHostAcceptable(request, client)) return false;
      const requestId = random.bytes(9).toString('base64url');
      const exchange = {
        req: request,
        res: response,
        path,
        params,
        rest: found[3] ?? '',
        origin: () => originOf(request, client, config.baseUrl),
        querystring,
        challenge,
        headers: ['X-Request-Id', requestId, ...constantHeaders],
        state: { requestId, address: client.address, routePath: route.path, identity: anonymousIdentity },
      };
      for (const record of onRequest) record(exchange);
      const { method } = request;
      const isTaken = method === route.method || (method === 'HEAD' && route.method === 'GET');
      const handle = isTaken ? route.handle : route.refuse;
      // Handlers always respond; an error that still escapes only ends its connection.
      handle(exchange).catch(() => response.destroy());
      return true;
    }
    return false;
  }

  return (request, response) => {
    if (!take(request, response)) next(request, response);
  };
}

/**
 * Git Credential Manager and git-credential-oauth know by the realm `Gitea` that a server has Gitea's addresses for
 * OAuth2 and its public clients, and then sign in through the browser. These addresses exist with a configured URL.
 */
const challengeOf = ({ baseUrl }: Pick<Config, 'baseUrl'>): string =>
  `Basic realm="${baseUrl === null ? 'Hearth' : 'Gitea'}", charset="UTF-8"`;

/** For URLs in responses, which use the configured name even if the request used another one. */
function originOf(request: IncomingMessage, { forwardedHost, forwardedProto }: Client, baseUrl: string | null): string {
  const verdict = externalOrigin({ host: forwardedHost ?? request.headers.host, forwardedProto, baseUrl });
  if (verdict.kind === 'known') return verdict.origin;
  return verdict.kind === 'misdirected' ? verdict.expected : '';
}

/** Owner and name, decoded; null if any part of the URL cannot be decoded, or contains NUL. */
function decodeNames(url: string, [, owner = '', name = '']: RegExpExecArray): { owner: string; name: string } | null {
  if (!url.includes('%')) return { owner, name };
  try {
    if (decodeURIComponent(url).includes('\0')) return null;
    return { owner: decodeURIComponent(owner), name: decodeURIComponent(name) };
  } catch {
    return null;
  }
}

/** Whether a request has exactly one valid, trusted host. The last name is cached, because clients repeat it. */
function createHostCheck(isTrusted: (host: string) => boolean): (request: IncomingMessage, client: Client) => boolean {
  let lastGood: string | undefined;
  let lastTrusted: string | undefined;
  return (request, { forwardedHost }) => {
    if (countHostHeaders(request) !== 1) return false;
    const { host: sent } = request.headers;
    if (sent === undefined) return false;
    if (sent !== lastTrusted && isTrusted(sent)) lastTrusted = sent;
    if (sent !== lastTrusted) return false;
    const host = forwardedHost ?? sent;
    if (host !== lastGood && externalOrigin({ host, forwardedProto: null, baseUrl: null }).kind === 'known')
      lastGood = host;
    return host === lastGood;
  };
}
