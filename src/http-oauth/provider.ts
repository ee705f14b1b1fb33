import type { OidcContext, Provider } from 'oidc-provider';
import { hashSecret } from '../accounts/index.ts';
import { differOnlyByPort, tokenPrefixes } from '../oauth/index.ts';
import { systemRandom } from '../kernel/index.ts';
import { createAdapter, hashMark } from './adapter.ts';
import { configurationOf } from './configuration.ts';
import type { OAuthHttpDeps, Render } from './deps.ts';
import { personOf } from './signed-in.ts';

/** The protocol at one address of the server. */
export interface ProviderAt {
  origin: string;
  provider: Provider;
}

/**
 * Makes the protocol library's server when it is first asked, and anew when its signing keys change. Null without
 * `base_url`: an issuer has one address, which its clients compare (OpenID Connect Discovery 1.0, 4.3).
 */
export function createProviders(deps: OAuthHttpDeps & { render: Render }): () => Promise<ProviderAt | null> {
  const origin = deps.config.baseUrl?.replace(/\/$/, '') ?? null;
  let made: { keys: string; at: Promise<ProviderAt> } | null = null;
  return async () => {
    if (origin === null) return null;
    const keys = await deps.oauth.keys.ids();
    if (made?.keys !== keys) made = { keys, at: makeProvider(deps, origin) };
    return made.at;
  };
}

async function makeProvider(deps: OAuthHttpDeps & { render: Render }, origin: string): Promise<ProviderAt> {
  const { default: ProviderClass, errors, interactionPolicy } = await import('oidc-provider');
  const keys = await deps.oauth.keys.signing();
  const adapter = createAdapter(deps.oauth, errors);
  const policy = interactionPolicy.base();
  const provider = new ProviderClass(origin, configurationOf(deps, { keys, adapter, policy, origin }));
  // The handler writes the scheme that the server trusts into the header.
  provider.proxy = true;
  useOwnSessions(provider);
  useOwnTokens(provider, deps);
  takeAnyLoopbackPort(provider, ProviderClass);
  provider.use(endSessionHere(deps));
  for (const event of ['server_error', 'grant.error', 'authorization.error', 'introspection.error', 'revocation.error'])
    provider.on(event, (_ctx: OidcContext, error: Error) =>
      deps.logger[event === 'server_error' ? 'error' : 'debug']('oauth.error', { event, error: error.message }),
    );
  return { origin, provider };
}

/** The session of the protocol is the person's session on the website: signed out there means signed out here. */
function useOwnSessions({ Session }: Provider): void {
  Session.prototype.resetIdentifier = function keepIdentifier() {};
  Session.get = async (ctx) => {
    const person = personOf(ctx.req);
    const key = person === null ? null : `of ${person.session.id}`;
    const known = key === null ? undefined : await Session.find(key);
    const session = known ?? (key === null ? Session.instantiate() : Session.instantiate({ jti: key }));
    if (person !== null) {
      session.accountId = person.person.id;
      session.loginTs = Math.floor((person.session.confirmedAt ?? person.session.createdAt) / 1000);
    }
    ctx.oidc.entity('Session', session);
    return session;
  };
}

/** Tokens have a prefix by which scanners find them, and secrets of clients are compared by their hash. */
function useOwnTokens(provider: Provider, { random = systemRandom }: OAuthHttpDeps): void {
  for (const kind of ['AccessToken', 'RefreshToken'] as const) {
    const { prototype } = provider[kind];
    const choosesFormat = prototype.generateTokenId;
    prototype.generateTokenId = function generateTokenId() {
      choosesFormat.call(this);
      return tokenPrefixes[kind] + random.bytes(32).toString('base64url');
    };
  }
  provider.Client.prototype.compareClientSecret = function compare(actual: string): boolean {
    return this.clientSecret === hashMark + hashSecret(actual);
  };
}

/**
 * At the token endpoint a public client may name a loopback address with another port than it did for the code, as tea
 * does. The library compares texts; the proof of PKCE, which it checks besides, shows that it is the same program.
 */
function takeAnyLoopbackPort({ AuthorizationCode }: Provider, ProviderClass: typeof Provider): void {
  const find = AuthorizationCode.find.bind(AuthorizationCode);
  AuthorizationCode.find = async (key, options) => {
    const code = await find(key, options);
    const { client, params = {} } = ProviderClass.ctx?.oidc ?? {};
    const usesPkce = client?.clientAuthMethod === 'none' && code?.codeChallenge !== undefined;
    const [issued, named] = [code?.redirectUri, params['redirect_uri']];
    if (usesPkce && issued !== undefined && typeof named === 'string' && differOnlyByPort(issued, named))
      params['redirect_uri'] = issued;
    return code;
  };
}

/** Signing out at the application's wish ends the session on the website. */
const endSessionHere =
  ({ accounts }: OAuthHttpDeps) =>
  async (ctx: OidcContext, next: () => Promise<void>): Promise<void> => {
    await next();
    if (ctx.oidc?.route !== 'end_session_confirm' || ctx.status !== 303 || !ctx.oidc.params?.logout) return;
    const person = personOf(ctx.req);
    if (person !== null) await accounts.signOut(person.secret);
  };
