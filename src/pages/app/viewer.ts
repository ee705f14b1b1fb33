import type { Accounts, SessionViewer } from '../../accounts/index.ts';
import type { Owners } from '../../owners/index.ts';
import type { Ci } from '../../ci/index.ts';
import { anonymousIdentity, readAuthorization, readSessionCookie, secretsOf } from '../../http/index.ts';
import type { Identity, Middleware } from './context.ts';

/** Determines the viewer. Makes no database query without a cookie. */
export function identifyViewer({ accounts, owners }: { accounts: Accounts; owners: Owners }): Middleware {
  /** Every page shows the user's picture in its header. */
  async function withPicture(signedIn: SessionViewer): Promise<Identity> {
    return { ...signedIn, avatarAt: await owners.avatarAt(signedIn.person.id) };
  }

  return async (ctx, next) => {
    const secret = readSessionCookie(ctx.req.headers.cookie, ctx.state.origin);
    const signedIn = secret === null ? null : await accounts.viewerOfSession(secret, { address: ctx.state.address });
    ctx.state.identity = signedIn === null ? anonymousIdentity : await withPicture(signedIn);
    await next();
  };
}

/**
 * The same for files that programs fetch: an access token or the token of a CI task identifies the caller, as `Bearer`
 * or `token`, or as password or username of Basic; invalid credentials get 401.
 */
export function identifyCaller(deps: {
  accounts: Accounts;
  owners: Owners;
  ci: { tasks: Pick<Ci['tasks'], 'viewerOfToken'> };
}): Middleware {
  const byCookie = identifyViewer(deps);
  return async (ctx, next) => {
    const credentials = readAuthorization(ctx.req.headers.authorization);
    if (credentials.kind === 'none') return byCookie(ctx, next);
    for (const secret of secretsOf(credentials)) {
      const viewer =
        (await deps.accounts.viewerOfToken(secret, { address: ctx.state.address })) ??
        (await deps.ci.tasks.viewerOfToken(secret));
      if (viewer === null) continue;
      ctx.state.identity = { ...anonymousIdentity, viewer };
      return next();
    }
    ctx.set('WWW-Authenticate', 'Basic realm="Hearth", charset="UTF-8"');
    ctx.status = 401;
    ctx.type = 'text/plain';
    ctx.body = 'This access token is not valid, or has expired.\n';
  };
}
