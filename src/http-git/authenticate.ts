import { anonymous } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { looksLikeAccessToken } from '../accounts/index.ts';
import { readAuthorization, secretsOf } from '../http/index.ts';
import { unauthenticated } from '../kernel/index.ts';
import type { GitHttpDeps } from './deps.ts';
import type { GitExchange } from './git-exchange.ts';

/**
 * Identity of a git client. Accepts an access token or the token of a CI task as `Bearer` or `token`, and as password
 * or username of Basic, because clients differ in which of the two fields they prompt for. Cookies are ignored: a page
 * elsewhere must not be able to fetch with a user's session (security D02). Throws `bad_credentials` for invalid
 * credentials, also on public repositories: users must learn that their token has expired.
 *
 * @returns `anonymous` without credentials
 */
export async function authenticate(
  { accounts, ci }: Pick<GitHttpDeps, 'accounts' | 'ci'>,
  { req, state }: Pick<GitExchange, 'req' | 'state'>,
): Promise<Viewer> {
  const credentials = readAuthorization(req.headers.authorization);
  if (credentials.kind === 'none') return anonymous;
  const secrets = secretsOf(credentials);
  for (const secret of secrets) {
    const viewer =
      (await accounts.viewerOfToken(secret, { address: state.address })) ?? (await ci.tasks.viewerOfToken(secret));
    if (viewer !== null) {
      state.identity = { viewer, person: null, session: null, avatarAt: null };
      return viewer;
    }
  }
  throw unauthenticated('bad_credentials', credentialsRefused(secrets));
}

/** Shown by git after its own message. A string formatted like a token is not a password. */
const credentialsRefused = (secrets: readonly string[]): string =>
  secrets.some((secret) => looksLikeAccessToken(secret))
    ? 'Authentication failed. This access token has expired or was removed.'
    : 'Authentication failed. Git does not accept passwords: create an access token in your account settings, ' +
      'and use it as the password.';
