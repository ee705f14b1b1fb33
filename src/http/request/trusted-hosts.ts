import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Config } from '../../config/index.ts';

/** Names that no public registry assigns (RFC 6761, RFC 6762, RFC 8375, and those of home networks). */
const localNames = /(?:^|\.)(?:localhost|local|internal|test|lan|home|home\.arpa)$/;

/**
 * Whether a Host header without a port can be trusted while no base URL is configured (security C09).
 *
 * A page whose public name is rebound to the address of this server runs in the origin of that name, and could read
 * everything public in the network. Such an attacker cannot register addresses, names without a dot and names below
 * local top-level domains; nor the name of this machine or that of `federation.base_url`.
 */
export function createHostTrust({ baseUrl, federation }: Pick<Config, 'baseUrl' | 'federation'>) {
  const known = new Set([hostname().toLowerCase()]);
  if (federation.baseUrl !== null && URL.canParse(federation.baseUrl)) known.add(new URL(federation.baseUrl).hostname);
  return (host: string): boolean => {
    if (baseUrl !== null) return true;
    const name = URL.parse(`http://${host}`)
      ?.hostname.replace(/^\[|\]$/g, '')
      .replace(/\.$/, '');
    if (name === undefined || name === '') return false;
    return isIP(name) !== 0 || !name.includes('.') || localNames.test(name) || known.has(name);
  };
}
