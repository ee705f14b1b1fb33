import type { ClientRequest, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createLru } from '../../kernel/index.ts';
import type { Random } from '../../kernel/index.ts';
import { anonymousIdentity, countHostHeaders } from '../../http/index.ts';
import type { Exchange, Client } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { Middleware } from './context.ts';
import { chooseLanguage } from '../../translation/index.ts';
import { cacheTtlMs } from './rendered-pages.ts';

/**
 * Sends a cached response to an anonymous client, without the middlewares. It makes no decisions: it repeats the
 * response of the whole chain to the same request while every validator is unchanged. All other requests go through the
 * chain.
 */
export interface ResponseCache {
  /** The stage before Koa. */
  serve(next: RequestListener): RequestListener;
  /** The outermost middleware: stores the responses of the others. */
  store: Middleware;
}

export interface ResponseCacheOptions {
  deps: Pick<WebDeps, 'clock' | 'config' | 'db' | 'git' | 'ssh'>;
  random: Random;
  readClient: (peer: string, headers: IncomingMessage['headers']) => Client;
  /** Called for every request: log, metrics, admission. */
  onRequest: readonly ((exchange: Exchange) => void)[];
}

/** The inputs of a response besides the request; taken before the chain begins and compared before it is sent again. */
interface Validators {
  /** The state of the database, which covers all reads of the chain. */
  state: number;
  /** The SSH address, which clone URLs show. */
  ssh: string;
}

interface CachedResponse extends Validators {
  /** The bare repository and the state of its refs, which change without the database. */
  repository: string;
  refs: string;
  /** Creation time of its page. */
  madeAtMs: number;
  status: number;
  /** Name, value, name, value: as set by the chain, without the request id. */
  headers: readonly string[];
  body: Buffer | null;
  path: string;
  routePath: string | null;
}

/** The bytes of all responses; most share them with the rendered pages. */
const maxBytes = 32 * 1024 * 1024;
const maxBodyBytes = 1024 * 1024;
const maxKeyBytes = 2_048;

/** Headers that change a response: part of the key. */
export const varyHeaders = [
  'host',
  'accept',
  'accept-encoding',
  'cookie',
  'if-none-match',
  'cache-control',
  'pragma',
] as const;
/** Headers that a trusted proxy sets: part of the key as far as `createClientReader` trusts them. */
export const forwardedHeaders = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const;
/** Headers that do not affect these pages. A request with a header outside these lists goes through the chain. */
export const ignoredHeaders = [
  'connection',
  'keep-alive',
  'user-agent',
  'referer',
  'dnt',
  'priority',
  'upgrade-insecure-requests',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-user',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-gpc',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip',
  'via',
] as const;
/** Reduced to the language of the response for the key: browsers express the same preference in many ways. */
const languageHeader = 'accept-language';
const knownHeaders = new Set<string>([...varyHeaders, ...forwardedHeaders, ...ignoredHeaders, languageHeader]);

export function createResponseCache({ deps, random, readClient, onRequest }: ResponseCacheOptions): ResponseCache {
  const responses = createLru<string, CachedResponse>({
    name: 'page responses',
    maxWeight: maxBytes,
    unit: 'bytes',
    weigh: sizeOf,
    ttlMs: cacheTtlMs,
  });
  /** Requests in the chain, with the validators from before it began. */
  const pending = new WeakMap<IncomingMessage, Validators & { key: string }>();

  const validators = async (): Promise<Validators> => ({
    state: await deps.db.state(),
    ssh: JSON.stringify(deps.ssh()),
  });

  async function isCurrent({ madeAtMs, state, ssh, repository, refs }: CachedResponse): Promise<boolean> {
    const age = deps.clock.now() - madeAtMs;
    if (age < 0 || age >= cacheTtlMs) return false;
    if ((await deps.git.refs.state(repository)) !== refs) return false;
    const now = await validators();
    return now.state === state && now.ssh === ssh;
  }

  function send(
    request: IncomingMessage,
    response: ServerResponse,
    { address }: Client,
    { status, headers, body, path, routePath }: CachedResponse,
  ): void {
    const requestId = random.bytes(9).toString('base64url');
    const exchange = {
      req: request,
      res: response,
      path,
      state: { requestId, address, routePath, identity: anonymousIdentity },
    };
    for (const record of onRequest) record(exchange);
    response.writeHead(status, ['X-Request-Id', requestId, ...headers]);
    response.end(body);
  }

  async function sendOrHandOn(
    request: IncomingMessage,
    response: ServerResponse,
    client: Client,
    key: string,
    next: RequestListener,
  ): Promise<void> {
    const cached = responses.get(key);
    if (cached !== undefined && (await isCurrent(cached).catch(() => false))) {
      if (!response.destroyed) send(request, response, client, cached);
      return;
    }
    responses.delete(key);
    pending.set(request, { key, ...(await validators()) });
    next(request, response);
  }

  return {
    serve: (next) => (request, response) => {
      const client = isCacheable(request) ? readClient(request.socket.remoteAddress ?? '', request.headers) : null;
      const key = client === null ? null : keyOf(request, client, deps.config.locale);
      if (client === null || key === null) return next(request, response);
      void sendOrHandOn(request, response, client, key, next);
    },
    async store(ctx, next) {
      const before = pending.get(ctx.req);
      if (before === undefined) return next();
      await next();
      const { cachedPage, identity, routePath } = ctx.state;
      if (cachedPage === null || identity.viewer.kind !== 'anonymous' || (ctx.status !== 200 && ctx.status !== 304))
        return;
      const now = await validators();
      // A change during the request may affect a part of the response.
      if (now.state !== before.state || now.ssh !== before.ssh) return;
      const { res, path, status } = ctx;
      const body = status === 304 ? null : ctx.body;
      if (body !== null && (!Buffer.isBuffer(body) || body.length > maxBodyBytes)) return;
      // Koa sets the last headers on sending.
      res.once('finish', () => {
        if (res.statusCode === status && !res.hasHeader('Set-Cookie'))
          responses.set(before.key, { ...now, ...cachedPage, status, headers: headersOf(res), body, path, routePath });
      });
    },
  };
}

/** A request for a repository page without credentials and with known headers only. */
function isCacheable(request: IncomingMessage): boolean {
  if (request.method !== 'GET' || !request.url!.startsWith('/repos/')) return false;
  for (const name in request.headers) if (!knownHeaders.has(name)) return false;
  return !/hearth_session|__Host-hearth/.test(request.headers.cookie ?? '') && countHostHeaders(request) === 1;
}

/** All parts of a request that affect the response; null when they are longer than those of repeated requests. */
function keyOf(
  { url, headers }: IncomingMessage,
  { forwardedProto, forwardedHost }: Client,
  locale: string,
): string | null {
  let key = `${url}\n${chooseLanguage(null, headers[languageHeader], locale)}\n${forwardedProto}\n${forwardedHost}`;
  for (const name of varyHeaders) key += headers[name] === undefined ? '\n' : `\n=${headers[name]}`;
  return key.length > maxKeyBytes ? null : key;
}

/** Every response header except the request id and connection headers. */
function headersOf(response: ServerResponse): string[] {
  const headers: string[] = [];
  // Node's types declare it for requests only.
  for (const name of (response as unknown as Pick<ClientRequest, 'getRawHeaderNames'>).getRawHeaderNames()) {
    if (/^(?:x-request-id|connection)$/i.test(name)) continue;
    for (const value of [response.getHeader(name)!].flat()) headers.push(name, String(value));
  }
  return headers;
}

const sizeOf = ({ body, headers }: CachedResponse, key: string): number =>
  512 + key.length + (body?.length ?? 0) + headers.reduce((sum, text) => sum + text.length, 0);
