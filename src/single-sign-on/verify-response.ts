import type { OidcProvider } from '../config/index.ts';
import { forbidden, invalid, isDomainError } from '../kernel/index.ts';
import type { SingleSignOnDeps } from './deps.ts';
import { explain, isConnectionFailure, loadLibrary, providerUnreachable } from './provider-client.ts';
import { maxSubjectLength, readAccount } from './provider-account.ts';
import type { ProviderAccount } from './provider-account.ts';
import type { SignInRequest } from './sign-in-request.ts';

/** How old the sign-in at the provider may be that confirms a dangerous act. */
const maxProofAgeSeconds = 10 * 60;

/**
 * Redeems the code of a provider's answer and verifies it: state and PKCE, then the ID token's signature by a key of
 * the provider, issuer, audience, nonce and times (OpenID Connect Core 1.0, section 3.1.3.7), and that the userinfo
 * endpoint means the same subject.
 *
 * @param parameters the query of the redirect
 * Refuses: `provider_refused` (forbidden) when the person or the provider declined; `provider_unreachable`;
 * `provider_answer` (invalid) for everything else, with the reason in the log only.
 */
export async function verifyResponse(
  deps: SingleSignOnDeps,
  provider: OidcProvider,
  request: SignInRequest,
  parameters: URLSearchParams,
): Promise<ProviderAccount> {
  const configuration = await deps.clients.configurationOf(provider);
  const library = await loadLibrary();
  const url = new URL(request.redirectUri);
  url.search = parameters.toString();
  try {
    const tokens = await library.authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: request.codeVerifier,
      expectedState: request.state,
      expectedNonce: request.nonce,
      idTokenExpected: true,
      ...(request.purpose === 'confirm' ? { maxAge: maxProofAgeSeconds } : {}),
    });
    const claims = tokens.claims()!;
    const { issuer, userinfo_endpoint: userinfo } = configuration.serverMetadata();
    if (claims.sub === '' || claims.sub.length > maxSubjectLength) throw new Error('the subject has no usable length');
    const more =
      userinfo === undefined || request.purpose === 'confirm'
        ? {}
        : await library.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    return readAccount(provider, issuer, { ...more, ...claims });
  } catch (error) {
    if (error instanceof library.AuthorizationResponseError) throw declined(deps, provider, error.error, error);
    deps.logger.warn('sign_in.provider_answer', { provider: provider.name, error: explain(error) });
    if (isDomainError(error)) throw error;
    if (isConnectionFailure(error)) throw providerUnreachable(provider, error);
    throw invalid('provider_answer', `The response from ${provider.title} could not be verified. Try again.`, {
      cause: error,
    });
  }
}

function declined({ logger }: SingleSignOnDeps, { name, title }: OidcProvider, code: string, cause: unknown) {
  logger.info('sign_in.provider_refused', { provider: name, error: code.slice(0, 100) });
  return forbidden(
    'provider_refused',
    code === 'access_denied'
      ? `You did not complete the sign-in at ${title}.`
      : `${title} did not sign you in. Try again, or ask an administrator.`,
    { cause },
  );
}
