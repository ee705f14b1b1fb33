import type { Accounts } from '../../accounts/index.ts';
import type { Middleware } from './context.ts';

/**
 * Redirects users to the steps that they must complete first: the choice of a username (SPEC §2.4), then a new password
 * when another person set the first one, then a second factor where the administrator requires one.
 *
 * @param path the pattern of this route; the pages of these steps themselves pass
 */
export function requireOnboarding(
  path: string,
  { accounts }: { accounts: Pick<Accounts, 'secondFactor'> },
): Middleware {
  return async (ctx, next) => {
    const { person } = ctx.state.identity;
    const requiredPage =
      // A step may redirect to a provider and back, to confirm the user's identity.
      person === null ||
      path === '/logout' ||
      path === '/settings/appearance' ||
      /^\/login\/(?:oidc|confirm)\//.test(path)
        ? null
        : person.username === null
          ? '/onboarding'
          : person.mustChangePassword
            ? '/settings/account'
            : accounts.secondFactor.isMissing(person)
              ? '/settings/security'
              : null;
    if (requiredPage === null || path.startsWith(requiredPage)) return next();
    ctx.status = 303;
    ctx.redirect(requiredPage);
    ctx.set('Cache-Control', 'no-store');
  };
}
