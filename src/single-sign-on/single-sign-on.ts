import type { Identity, Person } from '../accounts/index.ts';
import type { Config, OidcProvider } from '../config/index.ts';
import { bindDeps, forbidden, invalid, isDomainError, notFound } from '../kernel/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import type { SingleSignOnDeps } from './deps.ts';
import { mappingsOf } from './provider-account.ts';
import type { ProviderAccount } from './provider-account.ts';
import { createProviderClients, loadLibrary } from './provider-client.ts';
import type { ProviderClientOptions, ProviderStatus } from './provider-client.ts';
import { codeChallenge, newRequest, requestTtlMs, encryptRequest, decryptRequest } from './sign-in-request.ts';
import type { SignInRequest } from './sign-in-request.ts';
import { suggestUsername } from './suggest-username.ts';
import { verifyResponse } from './verify-response.ts';

interface SingleSignOnOptions
  extends Omit<SingleSignOnDeps, 'providers' | 'clients' | 'key'>,
    Omit<ProviderClientOptions, 'config'> {
  config: Pick<Config, 'baseUrl' | 'caFile' | 'oidc'>;
  keyFile: string;
}

/** A person of a provider who has no account here, while they choose a username. */
interface PendingSignUp {
  account: ProviderAccount;
  next: string;
  expiresAt: number;
}

/** How a sign-in at a provider ended. */
type ProviderSignIn =
  | { kind: 'signed-in'; person: Person; skipsSecondFactor: boolean }
  /** `sealed` is for `signUp`, with a username that the person chooses; null where the provider signs up no people. */
  | { kind: 'unknown'; title: string; sealed: string | null; ttlMs: number };

const useOfRequest = 'request';
const useOfSignUp = 'sign-up';

/** Sign-in at OpenID Connect providers. The functions behind the names describe what they do and refuse. */
export function createSingleSignOn(options: SingleSignOnOptions) {
  const { config, keyFile, accounts, organisations, clock, random, logger } = options;
  const { providers } = config.oidc;
  const deps: SingleSignOnDeps = {
    providers,
    clients: createProviderClients(options),
    accounts,
    organisations,
    key: new InstanceKey(keyFile, random, 'single-sign-on'),
    clock,
    random,
    logger,
  };
  const bind = bindDeps(deps);
  return {
    /** In the order of the settings; empty without single sign-on. */
    providers: providers.map(({ name, title, issuer }) => ({ name, title, issuer })),
    /** The name in the settings of the provider that a person used last; null without one. */
    lastProviderOf: bind(lastProviderOf),
    begin: bind(begin),
    finish: bind(finish),
    signIn: bind(signIn),
    signUp: bind(signUp),
    readSignUp: bind(readSignUp),
    link: bind(link),
    unlink: bind(unlink),
    proves: bind(proves),
    signOutUrl: bind(signOutUrl),
    /** Asks every provider, for administrators. */
    check: (): Promise<ProviderStatus[]> => Promise.all(providers.map((each) => deps.clients.check(each))),
    stop: () => deps.clients.stop(),
  };
}

export type SingleSignOn = ReturnType<typeof createSingleSignOn>;

function providerBy({ providers }: SingleSignOnDeps, name: string): OidcProvider {
  const provider = providers.find((each) => each.name === name);
  if (provider === undefined) throw notFound('unknown_provider', 'There is no such provider.');
  return provider;
}

interface Begun extends Pick<SignInRequest, 'purpose' | 'next' | 'sessionId'> {
  /** This server as the browser sees it. */
  origin: string;
}

/**
 * Begins a request at a provider. @returns where to send the browser, and the sealed request for its cookie. Refuses:
 * `unknown_provider` (not_found), `provider_unreachable`.
 */
async function begin(
  deps: SingleSignOnDeps,
  name: string,
  { origin, ...begun }: Begun,
): Promise<{ url: string; sealed: string; ttlMs: number }> {
  const provider = providerBy(deps, name);
  const redirectUri = `${origin}/login/oidc/${provider.name}/callback`;
  const request = newRequest(deps, { ...begun, provider: provider.name, redirectUri });
  const configuration = await deps.clients.configurationOf(provider);
  const library = await loadLibrary();
  const url = library.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: provider.scopes.join(' '),
    state: request.state,
    nonce: request.nonce,
    code_challenge: codeChallenge(request.codeVerifier),
    code_challenge_method: 'S256',
    // The person signs in again there, unless they have just done so.
    ...(begun.purpose === 'confirm' ? { max_age: '60' } : {}),
  });
  return { url: url.href, sealed: encryptRequest(deps, useOfRequest, request), ttlMs: requestTtlMs };
}

/**
 * Verifies the answer of a provider. Refuses: `sign_in_expired` (invalid) without the cookie of the browser that began
 * the request, after ten minutes, and for another state or provider; and as `verifyResponse` does.
 */
async function finish(
  deps: SingleSignOnDeps,
  name: string,
  { sealed, parameters }: { sealed: string | null; parameters: URLSearchParams },
): Promise<{ request: SignInRequest; account: ProviderAccount }> {
  const provider = providerBy(deps, name);
  const request = decryptRequest<SignInRequest>(deps, useOfRequest, sealed);
  if (request === null || request.provider !== name || parameters.get('state') !== request.state)
    throw invalid('sign_in_expired', 'This sign-in was started in another browser or too long ago. Start again.');
  return { request, account: await verifyResponse(deps, provider, request, parameters) };
}

/**
 * Finds the person of a provider's account, and gives them the memberships of its groups. A person without an account
 * gets one where the provider may sign people up and the claimed username is free. An e-mail address never finds an
 * account: any person may have entered it at a provider.
 */
async function signIn(deps: SingleSignOnDeps, account: ProviderAccount, next: string): Promise<ProviderSignIn> {
  const provider = providerBy(deps, account.provider);
  const person = await deps.accounts.personOfIdentity(account);
  if (person !== null) {
    await deps.accounts.recordIdentityUse(account);
    if (person.disabledAt === null) await mapGroups(deps, provider, person, account);
    return { kind: 'signed-in', person, skipsSecondFactor: provider.skipsSecondFactor };
  }
  const suggestion = suggestUsername(account.username) ?? '';
  const unknown = { kind: 'unknown', title: provider.title, ttlMs: requestTtlMs } as const;
  if (!provider.signUp) return { ...unknown, sealed: null };
  const pending: PendingSignUp = { account, next, expiresAt: deps.clock.now() + requestTtlMs };
  if (suggestion !== '') {
    const made = await addAccount(deps, provider, account, suggestion).catch((error: unknown) => {
      if (isDomainError(error) && error.reason === 'handle_taken') return null;
      throw error;
    });
    if (made !== null) return { kind: 'signed-in', person: made, skipsSecondFactor: provider.skipsSecondFactor };
  }
  return { ...unknown, sealed: sealSignUp(deps, pending) };
}

/** Browsers keep cookies of 4,096 bytes, name included. */
const maxCookieLength = 3_900;

/** What can be done without goes first: groups count again at the next sign-in. */
function sealSignUp(deps: SingleSignOnDeps, pending: PendingSignUp): string {
  const { account } = pending;
  const smaller = [pending, { ...pending, next: '/' }, { ...pending, next: '/', account: { ...account, groups: [] } }];
  const sealed = smaller.map((each) => encryptRequest(deps, useOfSignUp, each));
  return sealed.find((each) => each.length <= maxCookieLength) ?? sealed.at(-1)!;
}

async function addAccount(
  deps: SingleSignOnDeps,
  provider: OidcProvider,
  account: ProviderAccount,
  username: string,
): Promise<Person> {
  const { issuer, subject, label, displayName, verifiedAddress } = account;
  const person = await deps.accounts.signUpWithIdentity({
    identity: { issuer, subject, label },
    username,
    displayName,
    verifiedAddress,
  });
  await mapGroups(deps, provider, person, account);
  return person;
}

async function mapGroups(
  { organisations }: SingleSignOnDeps,
  provider: OidcProvider,
  { id }: Person,
  account: ProviderAccount,
): Promise<void> {
  await organisations.syncMemberships(id, account.issuer, mappingsOf(provider, account));
}

/** The account that waits for a username, and the username that was claimed, if any. Throws `sign_in_expired`. */
async function readSignUp(
  deps: SingleSignOnDeps,
  sealed: string | null,
): Promise<{ account: ProviderAccount; title: string; next: string; suggestion: string }> {
  const pending = decryptRequest<PendingSignUp>(deps, useOfSignUp, sealed);
  if (pending === null)
    throw invalid('sign_in_expired', 'This sign-in was started in another browser or too long ago. Start again.');
  const { account, next } = pending;
  const suggestion = suggestUsername(account.username) ?? '';
  return { account, next, title: providerBy(deps, account.provider).title, suggestion };
}

/**
 * Makes the account of a person who has chosen a username. Refuses: `sign_in_expired`; `sign_up_closed` when the
 * provider no longer signs people up; as `signUpWithIdentity` does.
 */
async function signUp(
  deps: SingleSignOnDeps,
  sealed: string | null,
  username: string,
): Promise<{ person: Person; next: string; skipsSecondFactor: boolean }> {
  const { account, next } = await readSignUp(deps, sealed);
  const provider = providerBy(deps, account.provider);
  if (!provider.signUp) throw notFound('sign_up_closed', 'This provider does not sign people up.');
  const person = await addAccount(deps, provider, account, username);
  return { person, next, skipsSecondFactor: provider.skipsSecondFactor };
}

/** Links an account of a provider to a signed-in person. Refuses as `addIdentity` does. */
async function link(deps: SingleSignOnDeps, personId: string, account: ProviderAccount): Promise<Identity> {
  const identity = await deps.accounts.addIdentity(personId, account);
  const person = await deps.accounts.personById(personId);
  await mapGroups(deps, providerBy(deps, account.provider), person, account);
  return identity;
}

/** Ends a link, and the memberships that the groups of its provider gave. Refuses as `removeIdentity` does. */
async function unlink(
  deps: SingleSignOnDeps,
  personId: string,
  identityId: string,
  options: { evenIfLast?: boolean } = {},
): Promise<Identity> {
  const identity = await deps.accounts.removeIdentity(personId, identityId, options);
  const rest = await deps.accounts.listIdentities(personId);
  if (!rest.some(({ issuer }) => issuer === identity.issuer))
    await deps.organisations.syncMemberships(personId, identity.issuer, []);
  return identity;
}

/** Throws `other_account` (forbidden) unless the account is one that this person signs in with. */
async function proves(deps: SingleSignOnDeps, personId: string, account: ProviderAccount): Promise<void> {
  const person = await deps.accounts.personOfIdentity(account);
  if (person?.id !== personId)
    throw forbidden('other_account', 'That account is not linked to yours. Use a linked account.');
}

async function lastProviderOf({ accounts, providers }: SingleSignOnDeps, personId: string): Promise<string | null> {
  const identities = await accounts.listIdentities(personId);
  const used = identities.toSorted((one, other) => (other.lastUsedAt ?? 0) - (one.lastUsedAt ?? 0));
  const [name] = used.flatMap(({ issuer }) => providers.find((each) => each.issuer === issuer)?.name ?? []);
  return name ?? null;
}

/**
 * Where to send a browser to end the session at a provider (OpenID Connect RP-Initiated Logout 1.0); null when the
 * provider has no such page. Refuses: `unknown_provider`, `provider_unreachable`.
 */
async function signOutUrl(deps: SingleSignOnDeps, name: string, returnTo: string): Promise<string | null> {
  const configuration = await deps.clients.configurationOf(providerBy(deps, name));
  if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
  const library = await loadLibrary();
  return library.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href;
}
