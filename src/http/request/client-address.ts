import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The client of a request, as seen through trusted proxies. */
export interface Client {
  /** The network address of the client itself. */
  address: string;
  /** The value that a trusted proxy reports for the browser; null without a trusted proxy. */
  forwardedProto: 'http' | 'https' | null;
  forwardedHost: string | null;
}

const namedRanges: Record<string, readonly string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

const mappedV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** An IPv4 client on a dual-stack socket is the same client (security D04). */
const plainAddress = (address: string): string => mappedV4.exec(address)?.[1] ?? address;

function addRange(list: BlockList, range: string): void {
  const [address = '', bits] = range.split('/');
  // Not isIP, whose expression would be compiled at start for nothing, because the list parses addresses itself.
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  try {
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  } catch (cause) {
    throw new Error(`proxy.trusted: ${JSON.stringify(range)} is neither an address, a range, loopback nor private`, {
      cause,
    });
  }
}

const listed = (header: string | string[] | undefined): string[] =>
  [header ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** @param trusted as in `createClientReader` */
export function createTrustedPeers(trusted: readonly string[]): (address: string) => boolean {
  const proxies = new BlockList();
  for (const entry of trusted) for (const range of namedRanges[entry] ?? [entry]) addRange(proxies, range);
  return (peer) => {
    const address = plainAddress(peer);
    const version = isIP(address);
    return version !== 0 && proxies.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/**
 * Reads `X-Forwarded-*`, but only from a socket peer in the list; from any other peer the headers are ignored. Koa's
 * own `proxy: true` trusts every peer and therefore stays off.
 *
 * @param trusted addresses, CIDR ranges, `loopback` or `private` (RFC 1918 and ULA); an empty list trusts no proxy
 */
export function createClientReader(trusted: readonly string[]): (peer: string, headers: IncomingHttpHeaders) => Client {
  const isTrusted = createTrustedPeers(trusted);
  return (peer, headers) => {
    const socketAddress = plainAddress(peer);
    const isForwarded =
      headers['x-forwarded-for'] !== undefined ||
      headers['x-forwarded-proto'] !== undefined ||
      headers['x-forwarded-host'] !== undefined;
    if (!isForwarded || !isTrusted(socketAddress))
      return { address: socketAddress, forwardedProto: null, forwardedHost: null };
    // Each proxy appends the address of its client, so only the entries at the right end come from trusted proxies.
    const hops = listed(headers['x-forwarded-for']).map(plainAddress);
    const proto = listed(headers['x-forwarded-proto']).at(-1)?.toLowerCase();
    return {
      address: hops.findLast((hop) => isIP(hop) !== 0 && !isTrusted(hop)) ?? socketAddress,
      forwardedProto: proto === 'http' || proto === 'https' ? proto : null,
      forwardedHost: listed(headers['x-forwarded-host']).at(-1) ?? null,
    };
  };
}
