import { anonymous } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import { forbidden, unauthenticated } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { anonymousIdentity, readToken } from '../http/index.ts';

/** One error for a missing, mistyped, expired and revoked token (security D11). */
export const tokenNeeded = () =>
  unauthenticated('token_needed', 'This needs a valid access token, sent as "Authorization: Bearer hth_…".');

/**
 * The identity of the caller by its access token, sent as `Bearer` or `token`; anonymous without one. Cookies are
 * ignored, so no page elsewhere can call with a person's session (security D02).
 * Refuses `token_needed` for any other Authorization header, never taking it for none;
 * `onboarding_required` while the token's owner has no handle.
 */
export async function authenticate(
  ctx: Context,
  { accounts }: { accounts: Pick<Accounts, 'viewerOfToken'> },
): Promise<Viewer> {
  ctx.state.identity = anonymousIdentity;
  const header = ctx.req.headers.authorization;
  if (header === undefined) return anonymous;
  const secret = readToken(header);
  const viewer = secret === null ? null : await accounts.viewerOfToken(secret, { address: ctx.state.address });
  if (viewer === null) throw tokenNeeded();
  if (viewer.username === null) throw forbidden('onboarding_required', 'Choose a handle first, in the browser.');
  ctx.state.identity = { ...anonymousIdentity, viewer };
  return viewer;
}
