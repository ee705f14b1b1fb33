import type { ClientRequest, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Random } from '../../kernel/index.ts';
import { nobody, countHostHeaders } from '../../http/index.ts';
import type { Exchange, Middleware, Client, WebDeps } from '../../http/index.ts';
import { cacheTtlMs } from './page-cache.ts';

/**
 * Says a kept page again to whoever is signed out, without the middlewares: they cost many
 * times what the page does. It decides nothing. It repeats what the whole chain has
 * answered to the same request, while nothing has changed that the chain could have seen:
 * the state of the database is the same, so are the repository's refs, and the page is
 * less than a minute old. Anything else goes through the chain.
 */
export interface ResponseCache {
  /** The first middleware: remembers what the others made of a request. */
  remember: Middleware;
  before(pages: RequestListener): RequestListener;
}

interface Deps {
  deps: Pick<WebDeps, 'clock' | 'db' | 'git' | 'ssh'>;
  random: Random;
  readClient: (peer: string, headers: IncomingMessage['headers']) => Client;
  /** Who wants to know of every request: log and counters. */
  notes: readonly ((exchange: Exchange) => void)[];
}

/** What an answer rests on besides the request. */
interface Validator {
  state: number;
  ssh: string;
}

interface CachedResponse extends Validator {
  status: number;
  /** Name, value, name, value: as the chain had set them, without the request's id. */
  headers: readonly string[];
  body: Buffer | null;
  path: string;
  routePath: string | null;
  madeAtMs: number;
  repository: string;
  refs: string;
}

/** What all answers may take; most share their bytes with the kept pages. */
const maxBytes = 32 * 1024 * 1024;
const maxBodyBytes = 1024 * 1024;
const maxRequestBytes = 2_048;

/** Headers that change an answer; with the address they are the request. */
const varyHeaders = [
  'host',
  'accept',
  'accept-encoding',
  'cookie',
  'if-none-match',
  'cache-control',
  'pragma',
] as const;
/** Headers that no answer to a page depends on, or that are read anew each time. A request with any other goes through the chain. */
const ignoredHeaders = new Set<string>([
  ...varyHeaders,
  'connection',
  'keep-alive',
  'user-agent',
  'accept-language',
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
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip',
  'via',
]);

export function createResponseCache({ deps, random, readClient, notes }: Deps): ResponseCache {
  /** Oldest first. */
  const said = new Map<string, CachedResponse>();
  let total = 0;
  /** What the chain is working on, with what was so before it began. */
  const asked = new WeakMap<IncomingMessage, Validator & { key: string }>();

  const ground = async (): Promise<Validator> => ({ state: await deps.db.state(), ssh: JSON.stringify(deps.ssh()) });

  function drop(key: string): void {
    total -= sizeOf(key, said.get(key));
    said.delete(key);
  }

  function put(key: string, one: CachedResponse): void {
    drop(key);
    said.set(key, one);
    total += sizeOf(key, one);
    for (const oldest of said.keys()) {
      if (total <= maxBytes) return;
      drop(oldest);
    }
  }

  /** Whether the chain would say the same now. */
  async function holds({ madeAtMs, state, ssh, repository, refs }: CachedResponse): Promise<boolean> {
    const age = deps.clock.now() - madeAtMs;
    if (age < 0 || age >= cacheTtlMs) return false;
    if ((await deps.git.refState(repository)) !== refs) return false;
    const now = await ground();
    return now.state === state && now.ssh === ssh;
  }

  function say(
    request: IncomingMessage,
    response: ServerResponse,
    { address }: Client,
    { status, headers, body, path, routePath }: CachedResponse,
  ): void {
    const requestId = random.bytes(9).toString('base64url');
    const exchange = { req: request, res: response, path, state: { requestId, address, routePath, identity: nobody } };
    for (const note of notes) note(exchange);
    response.writeHead(status, ['X-Request-Id', requestId, ...headers]);
    response.end(body);
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    client: Client,
    key: string,
    pages: RequestListener,
  ): Promise<void> {
    const one = said.get(key);
    if (one !== undefined && (await holds(one).catch(() => false))) {
      if (!response.destroyed) say(request, response, client, one);
      return;
    }
    drop(key);
    asked.set(request, { key, ...(await ground()) });
    pages(request, response);
  }

  return {
    async remember(ctx, next) {
      const before = asked.get(ctx.req);
      if (before === undefined) return next();
      await next();
      const { kept, identity, routePath } = ctx.state;
      if (kept === null || identity.viewer.kind !== 'anonymous' || (ctx.status !== 200 && ctx.status !== 304)) return;
      const now = await ground();
      // What has changed meanwhile may be in the answer by half.
      if (now.state !== before.state || now.ssh !== before.ssh) return;
      const { res, path, status } = ctx;
      const body = status === 304 ? null : ctx.body;
      if (body !== null && (!Buffer.isBuffer(body) || body.length > maxBodyBytes)) return;
      // Koa has its last word about headers when it sends them.
      res.once('finish', () => {
        if (res.statusCode === status && !res.hasHeader('Set-Cookie'))
          put(before.key, { ...now, ...kept, status, headers: headersOf(res), body, path, routePath });
      });
    },
    before: (pages) => (request, response) => {
      const client = isOrdinary(request) ? readClient(request.socket.remoteAddress ?? '', request.headers) : null;
      const key = client === null ? null : serialize(request, client);
      if (client === null || key === null) return pages(request, response);
      void answer(request, response, client, key, pages);
    },
  };
}

/** Somebody signed out who asks for a page as browsers do. */
function isOrdinary(request: IncomingMessage): boolean {
  if (request.method !== 'GET' || !request.url!.startsWith('/repos/')) return false;
  for (const name in request.headers) if (!ignoredHeaders.has(name)) return false;
  return !/hearth_session|__Host-hearth/.test(request.headers.cookie ?? '') && countHostHeaders(request) === 1;
}

/** All of a request that an answer depends on; null when that is more than anybody asks again. */
function serialize({ url, headers }: IncomingMessage, { forwardedProto, forwardedHost }: Client): string | null {
  let key = `${url}\n${forwardedProto}\n${forwardedHost}`;
  for (const name of varyHeaders) key += headers[name] === undefined ? '\n' : `\n=${headers[name]}`;
  return key.length > maxRequestBytes ? null : key;
}

/** Of every answer but its id, and what concerns this connection only. */
function headersOf(response: ServerResponse): string[] {
  const headers: string[] = [];
  // Node's types know it of requests only.
  for (const name of (response as unknown as Pick<ClientRequest, 'getRawHeaderNames'>).getRawHeaderNames()) {
    if (/^(?:x-request-id|connection)$/i.test(name)) continue;
    for (const value of [response.getHeader(name)!].flat()) headers.push(name, String(value));
  }
  return headers;
}

const sizeOf = (key: string, one: CachedResponse | undefined): number =>
  one === undefined
    ? 0
    : 512 + key.length + (one.body?.length ?? 0) + one.headers.reduce((sum, text) => sum + text.length, 0);
