import { anonymous, taskViewer } from '../access/index.ts';
import type { TaskCredential, Viewer } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import { forbidden, unauthenticated } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { anonymousIdentity, readAuthorization, secretsOf } from '../http/index.ts';

/** One error for a missing, mistyped, expired and revoked token (security D11). */
export const tokenNeeded = () =>
  unauthenticated('token_needed', 'This needs a valid access token, sent as "Authorization: Bearer hth_…".');

/** A call that comes with the token of a task names it; what it may do there is decided by `authorizeCall`. */
export interface Caller {
  viewer: Viewer;
  task: TaskCredential | null;
}

/**
 * The caller by its token, sent as `Bearer` or `token`, or as password or username of Basic; anonymous without one.
 * Cookies are ignored, so no page elsewhere can call with a person's session (security D02). Refuses `token_needed` for
 * any other Authorization header, never taking it for none; `onboarding_required` while the token's owner has no
 * handle.
 */
export async function authenticate(
  ctx: Context,
  {
    accounts,
    ci,
  }: { accounts: Pick<Accounts, 'viewerOfToken'>; ci: { tasks: Pick<Ci['tasks'], 'credentialOfToken'> } },
): Promise<Caller> {
  ctx.state.identity = anonymousIdentity;
  const header = ctx.req.headers.authorization;
  if (header === undefined) return { viewer: anonymous, task: null };
  for (const secret of secretsOf(readAuthorization(header))) {
    const viewer = await accounts.viewerOfToken(secret, { address: ctx.state.address });
    if (viewer !== null) {
      if (viewer.username === null) throw forbidden('onboarding_required', 'Choose a handle first, in the browser.');
      ctx.state.identity = { ...anonymousIdentity, viewer };
      return { viewer, task: null };
    }
    const task = await ci.tasks.credentialOfToken(secret);
    if (task !== null) {
      const reader = taskViewer(task, ['metadata'])!;
      ctx.state.identity = { ...anonymousIdentity, viewer: reader };
      return { viewer: reader, task };
    }
  }
  throw tokenNeeded();
}
