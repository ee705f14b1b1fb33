import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Config } from '../../config/index.ts';

/** Names that no public registry gives away (RFC 6761, RFC 6762, RFC 8375, and what home networks use). */
const localNames = /(?:^|\.)(?:localhost|local|internal|test|lan|home|home\.arpa)$/;

/**
 * Whether a Host header without a port may be believed while no base URL is configured (security C09).
 *
 * A page whose public name is rebound to the address of this server runs in the origin of that name, and could read
 * here all that is public in the network. Addresses, names without a dot and names below local top-level domains
 * cannot be registered by such an attacker; neither can the name of this machine or that of `federation.base_url`.
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
