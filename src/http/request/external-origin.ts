import { isIP } from 'node:net';

/** The result of reading the Host: the origin, or a refusal for which the caller has the message. */
type OriginVerdict =
  | { kind: 'known'; origin: string }
  | { kind: 'malformed' }
  /** The server has a fixed URL and was called by another name. */
  | { kind: 'misdirected'; expected: string };

interface OriginInput {
  /** The Host header, or the forwarded host of a trusted proxy. */
  host: string | undefined;
  forwardedProto: 'http' | 'https' | null;
  /** The configured base URL, which overrides everything in a request. */
  baseUrl: string | null;
}

const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i;

const isLoopbackName = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));

/**
 * The origin that the browser sees, for clone URLs, cookies and the cross-site check (SPEC §1, security C09).
 *
 * With a base URL every other name is refused, so that a name that an attacker controls never becomes a trusted origin
 * of this server; only loopback names still work, for health checks and for clients on this machine. A proxy may then
 * omit `X-Forwarded-Proto`: the scheme comes from the base URL.
 */
export function externalOrigin({ host, forwardedProto, baseUrl }: OriginInput): OriginVerdict {
  if (host === undefined || host.length > 255 || !hostPattern.test(host)) return { kind: 'malformed' };
  const requested = URL.parse(`${forwardedProto ?? 'http'}://${host}`);
  if (!requested) return { kind: 'malformed' };
  if (baseUrl === null) return { kind: 'known', origin: requested.origin };
  const fixed = new URL(baseUrl);
  if (new URL(`${fixed.protocol}//${host}`).host === fixed.host) return { kind: 'known', origin: fixed.origin };
  if (isLoopbackName(requested.hostname)) return { kind: 'known', origin: requested.origin };
  return { kind: 'misdirected', expected: fixed.origin };
}
