import { BlockList, isIP } from 'node:net';

/** Ranges that the IANA special-purpose registries exclude from routing, and multicast. */
const innerV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Only global unicast is routed in IPv6; it excludes mapped, NAT64, unique-local and link-local addresses. */
const routedV6 = ['2000::/3'];
/** Excluded from it: Teredo and other protocol addresses, documentation, 6to4 (which wraps any IPv4 address), AS112. */
const innerV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

const deniedV4 = listOf(innerV4, 'ipv4');
const allowedV6 = listOf(routedV6, 'ipv6');
const deniedV6 = listOf(innerV6, 'ipv6');

/**
 * Whether an address can be contacted on behalf of a user: it must be routed on the public internet, and must not
 * belong to this machine, its network or a tunnel. Checks bytes, never spellings: pass the result of a resolver or a
 * parsed URL.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !deniedV4.check(address, 'ipv4');
    case 6:
      // A zone id binds an address to a local interface.
      return !address.includes('%') && allowedV6.check(address, 'ipv6') && !deniedV6.check(address, 'ipv6');
    default:
      return false;
  }
}
