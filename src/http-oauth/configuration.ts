import type { interactionPolicy as policies, OidcContext, Provider, ProviderError } from 'oidc-provider';
import { scopeNames } from '../oauth/index.ts';
import type { OAuth, SigningJwk } from '../oauth/index.ts';
import type { Render } from './deps.ts';
import { activePerson, claimsByScope, claimsOf } from './person-claims.ts';
import type { ClaimsDeps } from './person-claims.ts';
import { consentPath, paths } from './paths.ts';

const minute = 60;
const day = 24 * 60 * minute;

/** Seconds. A refresh token is replaced whenever it is used. */
const lifetimes = {
  AuthorizationCode: 5 * minute,
  AccessToken: 60 * minute,
  IdToken: 60 * minute,
  RefreshToken: 60 * day,
  DeviceCode: 10 * minute,
  Interaction: 30 * minute,
  Session: day,
  Grant: 3650 * day,
};

interface ConfigurationDeps extends ClaimsDeps {
  oauth: OAuth;
  render: Render;
}

interface Parts {
  keys: SigningJwk[];
  adapter: unknown;
  policy: ReturnType<typeof policies.base>;
  origin: string;
}

/** The settings of the protocol library: what is not named stays off or is checked by its default. */
export function configurationOf(deps: ConfigurationDeps, { keys, adapter, policy, origin }: Parts): object {
  const { oauth, render } = deps;
  const secure = origin.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', path: '/login/oauth', secure, signed: true };
  return {
    adapter,
    jwks: { keys },
    routes: paths,
    scopes: scopeNames,
    claims: claimsByScope,
    // Clients of Gitea read names and groups from the identity token.
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    ttl: lifetimes,
    cookies: {
      keys: [oauth.cookieKey()],
      names: { session: 'hearth_oauth', interaction: 'hearth_oauth_request', resume: 'hearth_oauth_resume' },
      long: cookie,
      short: cookie,
    },
    // A public client has nothing else that shows that the one who asks is the one who began (RFC 9700, 2.1.1).
    pkce: { required: (_ctx: OidcContext, client: { clientAuthMethod: string }) => client.clientAuthMethod === 'none' },
    // The session of the person says who they are; a token lives on when it ends, until it is revoked.
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx: OidcContext, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    allowOmittingSingleRegisteredRedirectUri: true,
    clientBasedCORS: (_ctx: OidcContext, origin: string, client: { redirectUris: string[] }) =>
      client.redirectUris.some((uri) => URL.canParse(uri) && new URL(uri).origin === origin),
    async findAccount(_ctx: OidcContext, personId: string) {
      if ((await activePerson(deps, personId)) === null) return undefined;
      return {
        accountId: personId,
        claims: async (_use: string, scope: string) => claimsOf(deps, { personId, scope, origin }),
      };
    },
    async loadExistingGrant({ oidc }: OidcContext & { oidc: { client: { clientId: string } } }) {
      const grantId =
        oidc.result?.consent?.grantId ??
        (oidc.session.accountId === undefined
          ? null
          : await oauth.grants.of(oidc.session.accountId, oidc.client.clientId));
      return grantId === null ? undefined : (oidc.provider as Provider).Grant.find(grantId);
    },
    interactions: { policy, url: (_ctx: OidcContext, { uid }: { uid: string }) => consentPath(uid) },
    renderError(ctx: OidcContext, { error, error_description: description }: ProviderError) {
      ctx.type = 'html';
      ctx.body = render(ctx.req, 'oauth/error', { error, description: description ?? null });
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: true },
      revocation: { enabled: true, allowedPolicy: isItsOwn },
      introspection: {
        enabled: true,
        // A token of a disabled account opens nothing: services that ask here must not take it either.
        allowedPolicy: async (ctx: OidcContext, client: { clientId: string }, token: AskedToken) =>
          isItsOwn(ctx, client, token) &&
          (token.accountId === undefined || (await activePerson(deps, token.accountId)) !== null),
      },
      deviceFlow: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx: OidcContext) => showSignOut(ctx, render),
        postLogoutSuccessSource(ctx: OidcContext) {
          ctx.status = 303;
          ctx.redirect('/login?done=signed-out');
        },
      },
    },
  };
}

interface AskedToken {
  clientId?: string;
  accountId?: string;
}

/** An application asks about, and ends, its own tokens only. */
const isItsOwn = (_ctx: OidcContext, client: { clientId: string }, token: AskedToken): boolean =>
  token.clientId === client.clientId;

/** "Sign out?": its form leads on to the address that the application has registered, and to no other. */
function showSignOut(ctx: OidcContext, render: Render): void {
  const { session, client } = ctx.oidc;
  const { secret, postLogoutRedirectUri } = session.state ?? {};
  if (postLogoutRedirectUri !== undefined) {
    const policy = String(ctx.response.get('Content-Security-Policy'));
    const { origin } = new URL(postLogoutRedirectUri);
    if (origin !== 'null')
      ctx.set('Content-Security-Policy', policy.replace("form-action 'self'", `form-action 'self' ${origin}`));
  }
  ctx.body = render(ctx.req, 'oauth/sign-out', {
    action: paths.end_session + '/confirm',
    secret,
    application: client?.clientName ?? null,
  });
}
