import { anonymous, taskViewer } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { looksLikeAccessToken } from '../accounts/index.ts';
import { anonymousIdentity, readAuthorization, secretsOf } from '../http/index.ts';
import type { Context } from '../http/index.ts';
import { unauthenticated } from '../kernel/index.ts';
import type { PackageHttpDeps } from './deps.ts';

/**
 * The viewer of a secret: an access token, or the token of a task, which has what `permissions: packages` of its
 * workflow gives and is anonymous without it. Null for anything else.
 */
export async function viewerOfSecret(
  { accounts, ci }: Pick<PackageHttpDeps, 'accounts' | 'ci'>,
  ctx: Context,
  secret: string,
): Promise<Viewer | null> {
  const person = await accounts.viewerOfToken(secret, { address: ctx.state.address, use: 'packages' });
  if (person !== null) return person;
  const task = await ci.tasks.credentialOfToken(secret);
  return task === null ? null : (taskViewer(task, ['packages']) ?? anonymous);
}

/**
 * Who asks, by an access token or the token of a task: as `Bearer` or `token`, as password or username of Basic, or
 * alone, as cargo sends it. Cookies are ignored, so that no page elsewhere can ask with a person's session.
 * Refuses `bad_credentials` for anything else that is sent, also where everyone may read.
 */
export async function authenticate(deps: Pick<PackageHttpDeps, 'accounts' | 'ci'>, ctx: Context): Promise<Viewer> {
  const header = ctx.req.headers.authorization;
  if (header === undefined) return anonymous;
  const secrets = /^[^\s:]+$/.test(header) ? [header] : secretsOf(readAuthorization(header));
  for (const secret of secrets) {
    const viewer = await viewerOfSecret(deps, ctx, secret);
    if (viewer === null) continue;
    identify(ctx, viewer);
    return viewer;
  }
  throw badCredentials(secrets);
}

/** For the log line of the request. */
export function identify(ctx: Context, viewer: Viewer): void {
  ctx.state.identity = { ...anonymousIdentity, viewer };
}

export const badCredentials = (secrets: readonly string[]) =>
  unauthenticated(
    'bad_credentials',
    secrets.some((secret) => looksLikeAccessToken(secret))
      ? 'This access token has expired or was removed, or is for something else.'
      : 'Authentication failed. Packages take no password: make an access token in the settings of your account, and use it as the password.',
  );
