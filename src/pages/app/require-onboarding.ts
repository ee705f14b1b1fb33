import type { Middleware } from '../../http/index.ts';

/**
 * Leads people to what they must finish before anything else: the handle that
 * everything of theirs is named by (SPEC §2.4), then a password of their own
 * when somebody else chose the first one.
 *
 * @param path the pattern of this route; the pages of the errands themselves pass
 */
export function requireOnboarding(path: string): Middleware {
  return async (ctx, next) => {
    const { person } = ctx.state.identity;
    const errand =
      person === null || path === '/logout' || path === '/settings/appearance'
        ? null
        : person.username === null
          ? '/onboarding'
          : person.mustChangePassword
            ? '/settings/account'
            : null;
    if (errand === null || path.startsWith(errand)) return next();
    ctx.status = 303;
    ctx.redirect(errand);
    ctx.set('Cache-Control', 'no-store');
  };
}
