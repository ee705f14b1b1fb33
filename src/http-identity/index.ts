import type { Ci } from '../ci/index.ts';
import { unauthenticated } from '../kernel/index.ts';
import type { Context, Middleware } from '../http/index.ts';
import { HttpError, readToken } from '../http/index.ts';

/** What the endpoints of identity tokens need of the domain modules. */
interface IdentityDeps {
  ci: Pick<Ci, 'identity'>;
}

/** Below `/api/oidc`: OpenID Connect Discovery 1.0, the keys (RFC 7517), and the tokens that jobs ask for. */
export function createIdentityHandler({ ci }: IdentityDeps): Middleware {
  const routes: { readonly [path: string]: (ctx: Context) => Promise<unknown> | unknown } = {
    '.well-known/openid-configuration': () => ci.identity.discovery(),
    '.well-known/jwks': async () => ({ keys: await ci.identity.publicKeys() }),
    async 'id-token'(ctx) {
      const secret = readToken(ctx.req.headers.authorization);
      if (secret === null) throw unauthenticated('bad_runtime_token', 'This token is not valid here, or has expired.');
      ctx.set('Cache-Control', 'no-store');
      const value = await ci.identity.token(secret, new URLSearchParams(ctx.querystring).get('audience'));
      return { value, count: value.length };
    },
  };
  return async (ctx) => {
    const path = ctx.path.slice('/api/oidc/'.length);
    const serve = Object.hasOwn(routes, path) ? routes[path]! : null;
    if (serve === null) throw new HttpError(404, 'There is nothing here.');
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw new HttpError(405, 'Use GET for this.', { Allow: 'GET' });
    const answer = await serve(ctx);
    if (answer === null) throw new HttpError(404, 'Without base_url this server issues no identity tokens.');
    ctx.body = answer;
  };
}
