import { readFileSync } from 'node:fs';
import type { ClientAuth, Configuration, CustomFetchOptions } from 'openid-client';
import type { Config, OidcProvider } from '../config/index.ts';
import { isDomainError, unavailable } from '../kernel/index.ts';
import type { Clock, DomainError, Logger } from '../kernel/index.ts';
import { createOutbound, isAllowedHost } from '../outbound/index.ts';
import type { Outbound, OutboundLimits, ResolveName } from '../outbound/index.ts';

/** Loaded with the first sign-in at a provider: an instance without one never needs it. */
export const loadLibrary = () => import('openid-client');
type Library = Awaited<ReturnType<typeof loadLibrary>>;

export interface ProviderClientOptions {
  config: Pick<Config, 'baseUrl' | 'caFile' | 'oidc'>;
  clock: Clock;
  logger: Logger;
  /** The name resolver; tests have their own. */
  resolve?: ResolveName;
  limits?: Partial<OutboundLimits>;
}

/** What an administrator sees of a provider. */
export interface ProviderStatus {
  name: string;
  title: string;
  issuer: string;
  /** Why it cannot be used now; null when its discovery document was read. */
  error: string | null;
}

/** The library's view of each provider: its discovery document, kept for a while, and this server as its client. */
export interface ProviderClients {
  /** Throws `provider_unreachable` (unavailable). */
  configurationOf(provider: OidcProvider): Promise<Configuration>;
  /** Reads the discovery document of a provider anew. */
  check(provider: OidcProvider): Promise<ProviderStatus>;
  stop(): void;
}

/** How long a discovery document counts: endpoints change seldom, and keys are fetched apart from it. */
const discoveryTtlMs = 60 * 60_000;
/** A provider that failed is not asked again for this long, however many people click. */
const failureTtlMs = 5_000;
/** Discovery documents, keys and claims are a few kilobytes; a person may be in hundreds of groups. */
const maxResponseBytes = 512 * 1024;
const clockToleranceSeconds = 30;

interface Discovered {
  configuration: Promise<Configuration>;
  until: number;
}

export function createProviderClients(options: ProviderClientOptions): ProviderClients {
  const { config, clock, logger } = options;
  const { providers, allowedHosts } = config.oidc;
  const isNamed = (url: URL): boolean => isAllowedHost(url, allowedHosts);
  const issuerHosts = new Set(providers.map(({ issuer }) => new URL(issuer).host));
  const outbound = createOutbound({
    // A discovery document may name endpoints of other hosts, at the usual port.
    isAllowed: (url) => isNamed(url) || issuerHosts.has(url.host) || url.port === '',
    devAllowInsecure: false,
    allowsPrivate: isNamed,
    allowsHttp: isNamed,
    baseUrl: config.baseUrl,
    caFile: config.caFile,
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const send = sendThrough(outbound);
  const known = new Map<string, Discovered>();

  async function discover(provider: OidcProvider): Promise<Configuration> {
    const library = await loadLibrary();
    const secret = readSecret(provider);
    const isPlain = provider.issuer.startsWith('http:') && isNamed(new URL(provider.issuer));
    try {
      const configuration = await library.discovery(
        new URL(provider.issuer),
        provider.clientId,
        { [library.clockTolerance]: clockToleranceSeconds },
        clientAuthentication(library, secret),
        {
          [library.customFetch]: send,
          execute: [library.enableNonRepudiationChecks, ...(isPlain ? [library.allowInsecureRequests] : [])],
        },
      );
      // The library compares parsed URLs. Stored accounts are found by the issuer as it is written.
      const { issuer } = configuration.serverMetadata();
      if (issuer !== provider.issuer) throw new Error(`it calls itself ${issuer}, and not ${provider.issuer}`);
      return configuration;
    } catch (error) {
      const why = explain(error);
      logger.warn('sign_in.provider_unreachable', { provider: provider.name, error: why });
      throw providerUnreachable(provider, error);
    }
  }

  function discovered(provider: OidcProvider): Discovered {
    const configuration = discover(provider);
    const entry: Discovered = { configuration, until: clock.now() + discoveryTtlMs };
    configuration.catch(() => (entry.until = clock.now() + failureTtlMs));
    known.set(provider.name, entry);
    return entry;
  }

  return {
    configurationOf(provider) {
      const entry = known.get(provider.name);
      return (entry !== undefined && clock.now() < entry.until ? entry : discovered(provider)).configuration;
    },
    async check(provider) {
      const { name, title, issuer } = provider;
      try {
        await discovered(provider).configuration;
        return { name, title, issuer, error: null };
      } catch (error) {
        return { name, title, issuer, error: explain(error instanceof Error ? (error.cause ?? error) : error) };
      }
    },
    stop: () => outbound.close(),
  };
}

/** The way that the provider takes; the header, if it names none (OpenID Connect Discovery 1.0, section 3). */
function clientAuthentication(library: Library, secret: string | null): ClientAuth {
  if (secret === null) return library.None();
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}

/** Read with the discovery document, so that a new secret counts within an hour. */
function readSecret({ clientSecret, clientSecretFile, name }: OidcProvider): string | null {
  if (clientSecretFile === null) return clientSecret;
  try {
    return readFileSync(clientSecretFile, 'utf8').split(/\r?\n/)[0]!;
  } catch (cause) {
    throw unavailable('provider_unreachable', `The client secret of ${name} cannot be read.`, { cause });
  }
}

/** The library's requests, through the module that opens connections. It follows no redirects, as the library wants. */
function sendThrough(outbound: Outbound) {
  return async (url: string, { method, headers, body, signal }: CustomFetchOptions): Promise<Response> => {
    const response = await outbound.send({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      ...(body === undefined || body === null ? {} : { body: Buffer.from(String(body)) }),
      ...(signal === undefined ? {} : { signal }),
      maxBytes: maxResponseBytes,
    });
    const received = new Headers();
    for (const [name, value] of Object.entries(response.headers))
      if (value !== undefined) received.set(name, [value].flat().join(', '));
    const isEmpty = [204, 205, 304].includes(response.status);
    return new Response(isEmpty ? null : new Uint8Array(response.body), { status: response.status, headers: received });
  };
}

export function providerUnreachable({ title }: Pick<OidcProvider, 'title'>, cause: unknown): DomainError {
  return unavailable('provider_unreachable', `${title} cannot be reached right now. Try again later.`, {
    cause,
  });
}

/** The innermost reason of a failure, for administrators: the library wraps errors of the connection. */
export function explain(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (isDomainError(at) && at.reason !== 'provider_unreachable') return at.message;
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${inner}`;
}

/** Whether the connection failed, and not what came over it. */
export function isConnectionFailure(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (isDomainError(at)) return true;
  return false;
}
