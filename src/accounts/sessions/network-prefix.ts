import { isIP } from 'node:net';

/**
 * What counts as one place on the network: an IPv4 address, or the /64 that an
 * IPv6 customer gets as a whole and could wander through address by address.
 * An IPv4 address written as IPv6 counts as IPv4. Anything else counts as itself.
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
  // URL writes every spelling in one way: lower case, no dotted tail, "::" at most once.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const parse = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const front = parse(head);
  if (tail === undefined) return front;
  const back = parse(tail);
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}
