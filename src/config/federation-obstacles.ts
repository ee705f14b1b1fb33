import { BlockList, isIP } from 'node:net';
import type { Config } from './config.ts';

const loopback = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
] as const)
  loopback.addSubnet(network, bits, 'ipv4');
loopback.addSubnet('::', 127, 'ipv6');

const inner = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const) {
  inner.addSubnet(network, bits, 'ipv4');
}
inner.addSubnet('fc00::', 7, 'ipv6');
inner.addSubnet('fe80::', 10, 'ipv6');

/** A missing condition of federation: a stable name for programs, a sentence for users. */
interface FederationObstacle {
  reason:
    | 'switch_off'
    | 'base_url_missing'
    | 'base_url_invalid'
    | 'base_url_loopback'
    | 'base_url_inner'
    | 'base_url_not_https';
  words: string;
}

/**
 * The missing conditions of federation; it is operational if there are none (SPEC §1). The development flag permits
 * http and private addresses.
 */
export function missingForFederation({
  enabled,
  baseUrl,
  devAllowInsecure,
}: Config['federation']): FederationObstacle[] {
  const obstacles: FederationObstacle[] = [];
  if (!enabled)
    obstacles.push({ reason: 'switch_off', words: 'The switch is off: set SERVICE_FEDERATION_ENABLED=true.' });
  if (baseUrl !== null) return [...obstacles, ...baseUrlObstacles(baseUrl, devAllowInsecure)];
  return [
    ...obstacles,
    {
      reason: 'base_url_missing',
      words: 'The base URL is missing: set SERVICE_FEDERATION_BASE_URL to the public https origin.',
    },
  ];
}

/** The sentences of `missingForFederation`. */
export function federationObstacles(settings: Config['federation']): string[] {
  return missingForFederation(settings).map(({ words }) => words);
}

function baseUrlObstacles(text: string, devAllowInsecure: boolean): FederationObstacle[] {
  const url = URL.parse(text);
  const isOrigin = url !== null && url.hostname !== '' && text.replace(/\/$/, '').toLowerCase() === url.origin;
  if (!isOrigin || !/^https?:$/.test(url.protocol)) {
    return [
      {
        reason: 'base_url_invalid',
        words: `The base URL (${text}) is not an origin: write scheme and host alone, as in https://git.example.org.`,
      },
    ];
  }
  if (devAllowInsecure) return [];
  const obstacles: FederationObstacle[] = [];
  if (isLoopback(url.hostname)) {
    obstacles.push({
      reason: 'base_url_loopback',
      words: `The base URL (${text}) is a loopback address, which no other server can reach.`,
    });
  } else if (isInner(url.hostname)) {
    obstacles.push({
      reason: 'base_url_inner',
      words: `The base URL (${text}) is an address of an inner network, which no other server can reach.`,
    });
  }
  if (url.protocol !== 'https:')
    obstacles.push({ reason: 'base_url_not_https', words: `The base URL (${text}) is not https.` });
  return obstacles;
}

function isLoopback(hostname: string): boolean {
  return /(^|\.)localhost\.?$/.test(hostname) || isListed(loopback, hostname);
}

function isInner(hostname: string): boolean {
  return isListed(inner, hostname);
}

function isListed(list: BlockList, hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}
