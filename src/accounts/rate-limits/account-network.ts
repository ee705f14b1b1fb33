import { isIP } from 'node:net';
import { networkPrefix } from '../../kernel/index.ts';

/**
 * The unit of limits per account and network: the /24 of an IPv4 address, from which many providers assign changing
 * addresses, or the /64 of an IPv6 address. `null` is this machine.
 */
export function accountNetwork(address: string | null): string {
  if (address === null) return 'local';
  const prefix = networkPrefix(address);
  return isIP(prefix) === 4 ? `${prefix.slice(0, prefix.lastIndexOf('.'))}.0/24` : prefix;
}
