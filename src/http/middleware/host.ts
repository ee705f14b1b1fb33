import type { Config } from '../../config/index.ts';
import type { Middleware } from '../context.ts';
import { externalOrigin } from '../request/external-origin.ts';
import { countHostHeaders } from '../request/host-header.ts';
import { HttpError } from '../http-error.ts';
import { createClientReader } from '../request/client-address.ts';
import { createHostTrust } from '../request/trusted-hosts.ts';

const maxUrlLength = 4096;
const unknownName =
  'This server does not know the name in this address. Its administrator can make it known: set base_url (SERVICE_BASE_URL) to the address that people use, then restart. IP addresses, localhost and names of a local network work without it.';

/** Malformed escapes and NUL would reach the use cases undecoded or truncated. */
function isWellFormed(part: string): boolean {
  try {
    return !decodeURIComponent(part).includes('\0');
  } catch {
    return false;
  }
}

/** `/repos/{owner}/{name}/{page}/` may be followed by names from git, which are bytes and need not be UTF-8. */
function isPath(path: string): boolean {
  const inRepository = /^\/repos\/[^/]+\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0];
  if (inRepository === undefined) return isWellFormed(path);
  return isWellFormed(inRepository) && !/%(?![0-9a-f]{2})|%00/i.test(path);
}

/**
 * Determines the client address and the origin of a request, and refuses ambiguous requests (security C09, C11): no
 * Host, two of them, an unknown one, a path that cannot be decoded, a URL above 4 KiB.
 *
 * Jobs of runners may use any host name that resolves to this server, and get URLs with that name; their tokens are not
 * valid for pages. Health checks, git and federation may also use any name: health checks reveal nothing, the others
 * have their own credentials and never take a URL from a request. Without a base URL, git is served only under the
 * names of pages, because anonymous clients may read public data.
 *
 * The Host header decides, not a forwarded one: a script of a rebound page can set the latter.
 */
export function acceptHost(config: Pick<Config, 'baseUrl' | 'federation' | 'proxy'>): Middleware {
  const readClient = createClientReader(config.proxy.trusted);
  const isTrusted = createHostTrust(config);
  return async (ctx, next) => {
    const client = readClient(ctx.req.socket.remoteAddress ?? '', ctx.req.headers);
    ctx.state.address = client.address;
    if (ctx.url.length > maxUrlLength) throw new HttpError(414, 'This URL is too long.');
    if (!ctx.url.startsWith('/') || !isPath(ctx.path) || !isWellFormed(ctx.querystring))
      throw new HttpError(400, 'This URL is malformed.');
    if (countHostHeaders(ctx.req) !== 1) throw new HttpError(400, 'A request needs exactly one Host header.');

    const called = { host: client.forwardedHost ?? ctx.req.headers.host, forwardedProto: client.forwardedProto };
    const asConfigured = externalOrigin({ ...called, baseUrl: config.baseUrl });
    const isJob = /^\/(?:twirp|api\/actions_pipeline)\//.test(ctx.path);
    const verdict =
      isJob && asConfigured.kind === 'misdirected' ? externalOrigin({ ...called, baseUrl: null }) : asConfigured;
    if (verdict.kind === 'malformed') throw new HttpError(400, 'The Host header is malformed.');
    const anyName = isJob || /^\/(?:healthz|readyz|ap\/|nodeinfo\/|\.well-known\/)/.test(ctx.path);
    if (!anyName && !isTrusted(ctx.req.headers.host ?? '')) throw new HttpError(421, unknownName);
    if (verdict.kind === 'known') {
      ctx.state.origin = verdict.origin;
    } else if (anyName || ctx.path.startsWith('/git/')) {
      ctx.state.origin = verdict.expected;
    } else {
      throw new HttpError(421, `This server is available at ${verdict.expected}. Use that address.`);
    }
    await next();
  };
}
