import { anonymous, taskViewer } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { looksLikeAccessToken } from '../accounts/index.ts';
import { anonymousIdentity, readAuthorization, secretsOf } from '../http/index.ts';
import type { Context } from '../http/index.ts';
import { isDomainError, unauthenticated } from '../kernel/index.ts';
import type { PackageHttpDeps } from './deps.ts';

/** The requested resource: packages, or code, as for Go modules, which requires the right to read it. */
type Use = 'packages' | 'code';

/**
 * The viewer of a secret: an access token, or a task token, which has the access that `permissions: packages` of its
 * workflow gives, or `contents` for code, and is anonymous without it. Null for anything else.
 */
export async function viewerOfSecret(
  { accounts, ci }: Pick<PackageHttpDeps, 'accounts' | 'ci'>,
  ctx: Context,
  secret: string,
  use: Use = 'packages',
): Promise<Viewer | null> {
  const person = await accounts.viewerOfToken(secret, {
    address: ctx.state.address,
    use: use === 'packages' ? 'packages' : 'everything',
  });
  if (person !== null) return person;
  const task = await ci.tasks.credentialOfToken(secret);
  return task === null ? null : (taskViewer(task, [use === 'packages' ? 'packages' : 'contents']) ?? anonymous);
}

/**
 * Authenticates the caller by an access token or a task token: as `Bearer` or `token`, as password or username of
 * Basic, or alone, as cargo sends it; otherwise by name and password, as for the API. Cookies are ignored, so no other
 * site can call with a user's session. Throws `bad_credentials` for any other credentials, even if the resource is
 * public, and as `viewerOfPassword` does.
 */
export async function authenticate(
  deps: Pick<PackageHttpDeps, 'accounts' | 'ci'>,
  ctx: Context,
  use: Use = 'packages',
): Promise<Viewer> {
  const header = ctx.req.headers.authorization;
  if (header === undefined) return anonymous;
  const credentials = readAuthorization(header);
  const secrets = /^[^\s:]+$/.test(header) ? [header] : secretsOf(credentials);
  for (const secret of secrets) {
    const viewer = await viewerOfSecret(deps, ctx, secret, use);
    if (viewer === null) continue;
    identify(ctx, viewer);
    return viewer;
  }
  // Text in the form of a token is an invalid token, not a password: refused without computing a hash.
  if (credentials.kind !== 'basic' || credentials.password === '' || secrets.some((one) => looksLikeAccessToken(one)))
    throw badCredentials(secrets);
  const viewer = await viewerOfPassword(deps, ctx, credentials);
  identify(ctx, viewer);
  return viewer;
}

/** A wrong password gets the same error as any other wrong secret, so that clients prompt for another one. */
async function viewerOfPassword(
  { accounts }: Pick<PackageHttpDeps, 'accounts'>,
  ctx: Context,
  { username, password }: { username: string; password: string },
): Promise<Viewer> {
  try {
    return await accounts.viewerOfPassword({ username, password, address: ctx.state.address });
  } catch (error) {
    if (!isDomainError(error) || error.isRateLimit || error.code === 'unavailable') throw error;
    throw error.reason === 'wrong_credentials' ? badCredentials([]) : unauthenticated('bad_credentials', error.message);
  }
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
      : 'Authentication failed. Make an access token in the settings of your account, and use it as the password.',
  );
