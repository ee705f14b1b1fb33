import { page, type PageReply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

/** `/admin/single-sign-on`: each configured provider, whether it responds, and the redirect URL to register there. */
export const showSingleSignOn: Page<PersonContext, AdminDeps> = async (
  { origin },
  { config, singleSignOn },
): Promise<PageReply> => {
  const states = new Map((await singleSignOn.check()).map(({ name, error }) => [name, error]));
  return page('admin/single-sign-on', {
    takesPasswords: config.accounts.passwordSignIn,
    providers: config.oidc.providers.map(({ name, title, issuer, clientId, signUp, skipsSecondFactor, groups }) => ({
      title,
      issuer,
      clientId,
      signUp,
      skipsSecondFactor,
      error: states.get(name) ?? null,
      redirectUri: `${origin}/login/oidc/${name}/callback`,
      signedOutUri: `${origin}/login`,
      groups: groups.map(({ group, organisation, role }) => ({ group, organisation, role })),
    })),
  });
};
