import { anonymous, taskViewer } from '../access/index.ts';
import type { PersonViewer, TaskCredential, Viewer } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Config } from '../config/index.ts';
import { forbidden, unauthenticated } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { anonymousIdentity, readAuthorization, secretsOf } from '../http/index.ts';

/** One error for missing, mistyped, expired and revoked tokens (security D11). */
export const tokenNeeded = () =>
  unauthenticated('token_needed', 'This needs a valid access token, sent as "Authorization: Bearer hth_…".');

interface AuthenticationDeps {
  accounts: Pick<Accounts, 'viewerOfToken' | 'viewerOfPassword' | 'activePerson'>;
  ci: { tasks: Pick<Ci['tasks'], 'credentialOfToken'> };
  config: Pick<Config, 'api'>;
}

/**
 * The user as whom an administrator acts, from the header `Sudo` or the parameter `sudo`, with the scope of the token.
 * Throws `sudo_refused` for all other callers and if the server does not allow it; `unknown_person`.
 */
async function asAnother(
  ctx: Context,
  owner: PersonViewer,
  { accounts, config }: Pick<AuthenticationDeps, 'accounts' | 'config'>,
): Promise<PersonViewer> {
  const name = ctx.get('Sudo') || new URLSearchParams(ctx.querystring).get('sudo') || '';
  if (name === '') return owner;
  const isWhole = owner.scope === 'admin' && owner.repositoryIds === null;
  if (!config.api.sudo || !owner.isAdministrator || !isWhole)
    throw forbidden('sudo_refused', 'Only administrators can act as other users, and only if the server allows it.');
  const { id, username, isAdministrator } = await accounts.activePerson(name);
  return { ...owner, id, username, isAdministrator };
}

/** The task token identifies the caller; `authorizeCall` decides what the task may do. */
export interface Caller {
  viewer: Viewer;
  task: TaskCredential | null;
  /** Token of the call; null without one. */
  secret: string | null;
}

/**
 * The caller by its token, sent as `Bearer` or `token`, or as password or username of Basic; also by name and password,
 * as Gitea accepts them, for accounts without a second factor; otherwise anonymous. Cookies are ignored, so no other
 * site can call with a user's session (security D02). Throws `token_needed` for any other Authorization header instead
 * of ignoring it; `onboarding_required` while the token's owner has no handle.
 * @param use subject of the call: package tokens may call only package operations
 */
export async function authenticate(
  ctx: Context,
  { accounts, ci, config }: AuthenticationDeps,
  use: 'everything' | 'packages' = 'everything',
): Promise<Caller> {
  ctx.state.identity = anonymousIdentity;
  const header = ctx.req.headers.authorization;
  if (header === undefined) return { viewer: anonymous, task: null, secret: null };
  for (const secret of secretsOf(readAuthorization(header))) {
    const owner = await accounts.viewerOfToken(secret, { address: ctx.state.address, use });
    if (owner !== null) {
      const viewer = await asAnother(ctx, owner, { accounts, config });
      if (viewer.username === null) throw forbidden('onboarding_required', 'Choose a username in the browser first.');
      ctx.state.identity = { ...anonymousIdentity, viewer };
      return { viewer, task: null, secret };
    }
    const task = await ci.tasks.credentialOfToken(secret);
    if (task !== null) {
      const reader = taskViewer(task, ['metadata'])!;
      ctx.state.identity = { ...anonymousIdentity, viewer: reader };
      return { viewer: reader, task, secret };
    }
  }
  const credentials = readAuthorization(header);
  if (credentials.kind !== 'basic' || credentials.password === '') throw tokenNeeded();
  const { username, password } = credentials;
  // Text in the form of a token is an invalid token, not a password: refused without computing a hash.
  if ([username, password].some((text) => text.startsWith('hth_'))) throw tokenNeeded();
  const owner = await accounts.viewerOfPassword({ username, password, address: ctx.state.address });
  const viewer = await asAnother(ctx, owner, { accounts, config });
  ctx.state.identity = { ...anonymousIdentity, viewer };
  return { viewer, task: null, secret: null };
}
