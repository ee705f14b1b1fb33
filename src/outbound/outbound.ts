import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIP, isIPv6 } from 'node:net';
import { getCACertificates } from 'node:tls';
import { invalid, unavailable } from '../kernel/index.ts';
import { networkErrorMessage } from './network-error-message.ts';
import { bareHost, privateAddress, checkUrl, mayBePrivate } from './check-url.ts';
import type { OutboundRules } from './check-url.ts';
import { isPublicAddress } from './public-address.ts';
import { findReachableAddress } from './find-reachable-address.ts';
import { userAgent } from './user-agent.ts';
import { createNameResolver } from './resolve-name.ts';
import type { ResolveName } from './resolve-name.ts';
import { openRequest } from './open-request.ts';
import type { StreamedRequest, StreamedResponse } from './open-request.ts';
import { sendRequest } from './send-request.ts';
import type { OutboundResponse, OutboundRequest } from './send-request.ts';

export interface OutboundOptions extends OutboundRules {
  /** Public URL of this server for the User-Agent; null while it is unknown. */
  baseUrl: string | null;
  /** A PEM file with certificate authorities in addition to the default ones. */
  caFile?: string | null;
  /** The name resolver; tests have their own. */
  resolve?: ResolveName;
  limits?: Partial<OutboundLimits>;
}

export interface OutboundLimits {
  connectionsPerHost: number;
  connectMs: number;
  /** Timeout in milliseconds for connecting, headers and the whole response together. */
  totalMs: number;
  /** Time in milliseconds that an idle connection stays open. */
  idleMs: number;
}

const defaultLimits: OutboundLimits = { connectionsPerHost: 4, connectMs: 3_000, totalMs: 10_000, idleMs: 30_000 };

/**
 * The only client for other hosts. Connects by https (http and ssh only if the rules permit it for listed hosts), to
 * allowed hosts, at addresses that are public when the connection is made. Follows no redirects and ignores proxy
 * settings of the environment.
 */
export interface Outbound {
  /** Checks a URL without network access. Throws the errors of `check-url.ts`. */
  checkUrl(url: string): Promise<URL>;
  /** Throws the errors of `checkUrl` and `sendRequest`. */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  /** Sends a request with streamed content and response. Throws the errors of `send`. */
  open(request: StreamedRequest): Promise<StreamedResponse>;
  /**
   * For programs that connect by themselves: checks a URL, resolves its host once, and returns the only permitted
   * addresses. Throws the errors of `checkUrl` and `peer_unreachable`.
   */
  resolve(url: string): Promise<{ url: URL; addresses: string[] }>;
  /**
   * The first of these addresses that accepts a connection, for a program that takes only one. Returns a single address
   * without trying it. Throws `peer_unreachable`.
   * @param addresses the result of `resolve`
   */
  reachable(addresses: readonly string[], port: number): Promise<string>;
  /** The addresses of a name, and whether each can be contacted; for diagnostics. */
  addressesOf(name: string): Promise<{ address: string; isAllowed: boolean }[]>;
  /** Closes idle connections. */
  close(): void;
}

/** Throws `config_ca_file` if the file of certificate authorities is unreadable. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { devAllowInsecure, resolve = createNameResolver() } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const ownName = userAgent(options.baseUrl);
  const shared = { keepAlive: true, maxSockets: limits.connectionsPerHost, timeout: limits.idleMs };
  const agents = {
    http: new http.Agent(shared),
    https: new https.Agent({ ...shared, ...trusted(options.caFile ?? null) }),
  };
  const mayContact = (address: string): boolean => devAllowInsecure || isPublicAddress(address);
  const wireWith = (may: (address: string) => boolean) => ({
    ...limits,
    agents,
    userAgent: ownName,
    lookup: checkedLookup(resolve, may),
    checkAddress(address: string): void {
      if (!may(address)) throw privateAddress(address);
    },
  });
  const rulesOfSend = { ...options, mayUseSsh: () => false };
  const [guarded, anywhere] = [wireWith(mayContact), wireWith(() => true)];
  return {
    checkUrl: (url) => checkUrl(url, rulesOfSend),
    async send(request) {
      const url = await checkUrl(request.url, rulesOfSend);
      return sendRequest(url, request, mayBePrivate(url, options) ? anywhere : guarded);
    },
    async open(request) {
      const url = await checkUrl(request.url, rulesOfSend);
      return openRequest(url, request, mayBePrivate(url, options) ? anywhere : guarded);
    },
    async resolve(text) {
      const url = await checkUrl(text, options);
      const host = bareHost(url);
      const unreachable = (why: string, cause?: unknown) =>
        unavailable('peer_unreachable', `${url.host} cannot be reached: ${why}.`, { cause });
      const addresses =
        isIP(host) !== 0
          ? [host]
          : await resolve(host).catch((cause: unknown) => {
              throw unreachable(networkErrorMessage(cause), cause);
            });
      if (addresses.length === 0) throw unreachable('its name does not resolve');
      const bad = mayBePrivate(url, options) ? undefined : addresses.find((address) => !isPublicAddress(address));
      if (bad !== undefined) throw privateAddress(url.hostname);
      return { url, addresses };
    },
    reachable: (addresses, port) => findReachableAddress(addresses, port, limits.connectMs),
    addressesOf: async (name) => (await resolve(name)).map((address) => ({ address, isAllowed: mayContact(address) })),
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/**
 * Connects to exactly the checked address: a second DNS lookup could differ (DNS rebinding). One private address among
 * public ones rejects them all, because the next response may list it first.
 */
function checkedLookup(resolve: ResolveName, mayContact: (address: string) => boolean): LookupFunction {
  return (name, options, done) => {
    resolve(name).then(
      (addresses) => {
        const bad = addresses.find((address) => !mayContact(address));
        if (bad !== undefined) return done(failure('EINNER', `${name} resolves to ${bad}`), '', 4);
        if (addresses.length === 0) return done(failure('ENOTFOUND', `${name} has no address`), '', 4);
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        if (options.all) done(null, found);
        else done(null, found[0]!.address, found[0]!.family);
      },
      (error: unknown) => done(error as NodeJS.ErrnoException, '', 4),
    );
  };
}

function failure(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

function trusted(caFile: string | null): { ca?: string[] } {
  if (caFile === null) return {};
  try {
    const pem = readFileSync(caFile, 'utf8');
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it holds no certificate');
    return { ca: [...getCACertificates('default'), pem] };
  } catch (cause) {
    throw invalid(
      'config_ca_file',
      `The file of certificate authorities (ca_file) cannot be used: ${(cause as Error).message}.`,
      { cause },
    );
  }
}
