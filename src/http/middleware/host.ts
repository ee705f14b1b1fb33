import type { Config } from '../../config/index.ts';
import type { Middleware } from '../context.ts';
import { externalOrigin } from '../request/external-origin.ts';
import { countHostHeaders } from '../request/host-header.ts';
import { Refusal } from '../refusal.ts';
import { createClientReader } from '../request/client-address.ts';

const maxUrlLength = 4096;

/** Broken escapes and NUL would reach the rooms undecoded or cut short. */
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
 * Learns who asks and under which origin, and refuses ambiguous requests
 * (security.md C09, C11): no Host, two of them, a foreign one, a path that does
 * not decode, an address above 4 KiB.
 *
 * Jobs of runners may use any name that leads here, and are answered under it; their
 * tokens are worth nothing to pages. Health checks, git and federation may, too: the first tell nothing, the
 * others bring their own credentials and never take an address from a request.
 */
export function acceptHost(config: Pick<Config, 'baseUrl' | 'proxy'>): Middleware {
  const readClient = createClientReader(config.proxy.trusted);
  return async (ctx, next) => {
    const client = readClient(ctx.req.socket.remoteAddress ?? '', ctx.req.headers);
    ctx.state.address = client.address;
    if (ctx.url.length > maxUrlLength) throw new Refusal(414, 'This address is too long.');
    if (!ctx.url.startsWith('/') || !isPath(ctx.path) || !isWellFormed(ctx.querystring))
      throw new Refusal(400, 'This address is not well-formed.');
    if (countHostHeaders(ctx.req) !== 1) throw new Refusal(400, 'A request needs exactly one Host header.');

    const called = { host: client.forwardedHost ?? ctx.req.headers.host, forwardedProto: client.forwardedProto };
    const asConfigured = externalOrigin({ ...called, baseUrl: config.baseUrl });
    const isJob = asConfigured.kind === 'misdirected' && /^\/(?:twirp|api\/actions_pipeline)\//.test(ctx.path);
    const verdict = isJob ? externalOrigin({ ...called, baseUrl: null }) : asConfigured;
    if (verdict.kind === 'malformed') throw new Refusal(400, 'The Host header is not well-formed.');
    if (verdict.kind === 'known') {
      ctx.state.origin = verdict.origin;
    } else if (/^\/(?:healthz|readyz|git\/|ap\/|nodeinfo\/|\.well-known\/)/.test(ctx.path)) {
      ctx.state.origin = verdict.expected;
    } else {
      throw new Refusal(421, `This server answers at ${verdict.expected}. Please use that address.`);
    }
    await next();
  };
}
