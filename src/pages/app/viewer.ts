import type { Accounts, SessionViewer } from '../../accounts/index.ts';
import type { Owners } from '../../owners/index.ts';
import { anonymousIdentity, readSessionCookie } from '../../http/index.ts';
import type { Identity, Middleware } from '../../http/index.ts';

/** Finds out who is looking. Without a cookie this asks no database. */
export function identifyViewer({ accounts, owners }: { accounts: Accounts; owners: Owners }): Middleware {
  /** Every page shows the person's picture in its head. */
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
