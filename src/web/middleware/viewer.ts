import { anonymous } from '../../access/index.ts';
import type { Accounts } from '../../accounts/index.ts';
import type { Middleware } from '../context.ts';
import { readSessionCookie } from '../session-cookie.ts';

/** Finds out who is looking. Without a cookie this asks no database. */
export function identifyViewer(accounts: Accounts): Middleware {
  return async (ctx, next) => {
    const secret = readSessionCookie(ctx.req.headers.cookie, ctx.state.origin);
    const signedIn = secret === null ? null : await accounts.viewerOfSession(secret, { address: ctx.state.address });
    ctx.state.identity = signedIn ?? { viewer: anonymous, person: null, session: null };
    await next();
  };
}
