import { BlockList, isIP } from 'node:net';
import type { Config } from './config.ts';

const loopback = new BlockList();
for (const [network, bits] of [['0.0.0.0', 8], ['127.0.0.0', 8]] as const) loopback.addSubnet(network, bits, 'ipv4');
loopback.addSubnet('::', 127, 'ipv6');

const inner = new BlockList();
for (const [network, bits] of [['10.0.0.0', 8], ['100.64.0.0', 10], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.168.0.0', 16], ['224.0.0.0', 3]] as const) {
  inner.addSubnet(network, bits, 'ipv4');
}
inner.addSubnet('fc00::', 7, 'ipv6');
inner.addSubnet('fe80::', 10, 'ipv6');

/**
 * Why federation stays off, a sentence for each missing condition; none means
 * it works (SPEC §1). The development flag forgives http and inner addresses.
 */
export function federationObstacles({ enabled, baseUrl, devAllowInsecure }: Config['federation']): string[] {
  const obstacles: string[] = [];
  if (!enabled) obstacles.push('The switch is off: set SERVICE_FEDERATION_ENABLED=true.');
  if (baseUrl === null) obstacles.push('The base URL is missing: set SERVICE_FEDERATION_BASE_URL to the public https origin.');
  else obstacles.push(...baseUrlObstacles(baseUrl, devAllowInsecure));
  return obstacles;
}

function baseUrlObstacles(text: string, devAllowInsecure: boolean): string[] {
  const url = URL.parse(text);
  const isOrigin = url !== null && url.hostname !== '' && text.replace(/\/$/, '').toLowerCase() === url.origin;
  if (!isOrigin || !/^https?:$/.test(url.protocol)) {
    return [`The base URL (${text}) is not an origin: write scheme and host alone, as in https://git.example.org.`];
  }
  if (devAllowInsecure) return [];
  if (url.protocol !== 'https:') return [`The base URL (${text}) is not https.`];
  if (isLoopback(url.hostname)) return [`The base URL (${text}) is a loopback address, which no other server can reach.`];
  if (isInner(url.hostname)) return [`The base URL (${text}) is an address of an inner network, which no other server can reach.`];
  return [];
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
