import { isIP } from 'node:net';

/**
 * The unit of the limits per network: an IPv4 address, or the /64 of an IPv6 address, since one customer usually has
 * all addresses in it. An IPv4-mapped address counts as IPv4. Other text counts as itself.
 */
export function networkPrefix(address: string): string {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) !== 6) return plain;
  const groups = expandIpv6(plain);
  const isMappedIpv4 = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMappedIpv4) return [groups[6]! >> 8, groups[6]! & 0xff, groups[7]! >> 8, groups[7]! & 0xff].join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of an address that `isIP` accepts. */
function expandIpv6(address: string): number[] {
  // The URL parser normalises: lower case, no dotted tail, "::" at most once.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const parse = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const front = parse(head);
  if (tail === undefined) return front;
  const back = parse(tail);
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}
