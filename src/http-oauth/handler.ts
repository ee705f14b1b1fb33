import { scopesMeant } from '../oauth/index.ts';
import { HttpError, readSessionCookie } from '../http/index.ts';
import type { Context, Middleware } from '../http/index.ts';
import type { OAuthHttpDeps } from './deps.ts';
import { paths } from './paths.ts';
import type { ProviderAt } from './provider.ts';
import { rememberPerson } from './signed-in.ts';

const discoveryPaths = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'];

/** Addresses that a browser visits with the person's cookie; the others are called by programs, which have none. */
const isOfBrowser = (path: string): boolean =>
  path.startsWith(paths.authorization) || path.startsWith(paths.end_session);

/**
 * Serves the addresses of the protocol: authorization (RFC 6749, with PKCE by RFC 7636), tokens, revocation (RFC 7009),
 * introspection (RFC 7662), device codes (RFC 8628), OpenID Connect discovery, keys, `userinfo` and sign-out.
 */
export function createOAuthHandler(deps: OAuthHttpDeps, providerNow: () => Promise<ProviderAt | null>): Middleware {
  return async (ctx) => {
    const at = await providerNow();
    if (at === null) throw new HttpError(404, 'Without base_url applications cannot sign people in at this server.');
    if (isOfBrowser(ctx.path)) {
      const isSignedIn = await recognise(ctx, deps);
      if (!isSignedIn && mustSignIn(ctx)) return leadToSignIn(ctx);
    }
    if (ctx.path === paths.authorization && ctx.method === 'GET') nameScopes(ctx);
    // What the library reads of the address is what this server trusts.
    const { host, protocol } = new URL(ctx.state.origin);
    Object.assign(ctx.req.headers, { host, 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) });
    if (!discoveryPaths.includes(ctx.path)) ctx.set('Cache-Control', 'no-store');
    ctx.respond = false;
    await at.provider.callback()(ctx.req, ctx.res);
  };
}

/** Remembers who is signed in on the website for the callbacks of the library. */
async function recognise(ctx: Context, { accounts }: OAuthHttpDeps): Promise<boolean> {
  const secret = readSessionCookie(ctx.req.headers.cookie, ctx.state.origin);
  const signedIn = secret === null ? null : await accounts.viewerOfSession(secret, { address: ctx.state.address });
  if (signedIn === null) return false;
  rememberPerson(ctx.req, { ...signedIn, secret: secret! });
  return true;
}

const mustSignIn = (ctx: Context): boolean =>
  ctx.method === 'GET' &&
  ctx.path === paths.authorization &&
  !(ctx.query.prompt ?? '').toString().split(' ').includes('none');

function leadToSignIn(ctx: Context): void {
  ctx.redirect(`/login?next=${encodeURIComponent(ctx.url)}`);
  ctx.status = 303;
  ctx.set('Cache-Control', 'no-store');
}

/** Asks for what the client means by its scopes (`scopesMeant`); the user reads it so before granting access. */
function nameScopes(ctx: Context): void {
  const { scope = '' } = ctx.query;
  if (Array.isArray(scope)) return;
  const query = new URLSearchParams(ctx.querystring);
  query.set('scope', scopesMeant(scope));
  ctx.req.url = `${ctx.path}?${query}`;
}
