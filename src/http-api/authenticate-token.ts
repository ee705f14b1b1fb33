import { anonymous } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import { forbidden, unauthenticated } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { anonymousIdentity, readToken } from '../http/index.ts';

/** One error for a missing, mistyped, expired and revoked token (security D11). */
export const tokenNeeded = () =>
  unauthenticated('token_needed', 'This needs a valid access token, sent as "Authorization: Bearer hth_…".');

/**
 * The identity of the caller by its access token, sent as `Bearer` or `token`; anonymous without one. The token of a task
 * counts where the operation takes it. Cookies are ignored, so no page elsewhere can call with a person's session (security D02).
 * Refuses `token_needed` for any other Authorization header, never taking it for none;
 * `onboarding_required` while the token's owner has no handle.
 */
export async function authenticate(
  ctx: Context,
  { accounts, ci }: { accounts: Pick<Accounts, 'viewerOfToken'>; ci: { tasks: Pick<Ci['tasks'], 'viewerOfToken'> } },
  { takesTask = false }: { takesTask?: boolean | undefined } = {},
): Promise<Viewer> {
  ctx.state.identity = anonymousIdentity;
  const header = ctx.req.headers.authorization;
  if (header === undefined) return anonymous;
  const secret = readToken(header);
  const viewer = secret === null ? null : await accounts.viewerOfToken(secret, { address: ctx.state.address });
  const task = viewer === null && secret !== null && takesTask ? await ci.tasks.viewerOfToken(secret) : null;
  if (task !== null) {
    ctx.state.identity = { ...anonymousIdentity, viewer: task };
    return task;
  }
  if (viewer === null) throw tokenNeeded();
  if (viewer.username === null) throw forbidden('onboarding_required', 'Choose a handle first, in the browser.');
  ctx.state.identity = { ...anonymousIdentity, viewer };
  return viewer;
}
