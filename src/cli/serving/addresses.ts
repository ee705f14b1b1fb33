import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { NetworkInterfaceInfo } from 'node:os';
import type { Config } from '../../config/index.ts';
import { readRunningServer } from './runtime-state.ts';

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The URLs to open and to clone from. */
export interface ShownAddresses {
  /** Origin of the web pages, without a trailing slash. */
  readonly web: string;
  /** A second origin that works only on this machine, if it differs. */
  readonly webHere: string | null;
  /** `ssh://git@host:port`, null if SSH is off. */
  readonly ssh: string | null;
}

/**
 * The URLs to show for listeners at `http` and `ssh`: the configured public names, otherwise the network address of
 * this machine.
 * @param interfaces network interfaces of this machine; if it throws, as in a service without AF_NETLINK, the address
 *   is `localhost`
 */
export function shownAddresses(
  config: Config,
  http: ListenAddress,
  ssh: ListenAddress | null,
  interfaces: typeof networkInterfaces = networkInterfaces,
): ShownAddresses {
  const here = `http://${urlHost(isWildcard(http.host) ? 'localhost' : http.host)}:${http.port}`;
  const web = config.baseUrl ?? `http://${urlHost(reachableHost(http.host, interfaces))}:${http.port}`;
  const sshHost = config.ssh.publicHost ?? new URL(web).hostname.replace(/^\[|\]$/g, '');
  const sshPort = config.ssh.publicPort ?? ssh?.port;
  return {
    web,
    webHere: here === web ? null : here,
    ssh: ssh === null ? null : `ssh://git@${urlHost(sshHost)}${sshPort === 22 ? '' : `:${sshPort}`}`,
  };
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** For a wildcard address: the first address that is not loopback. */
function reachableHost(host: string, interfaces: typeof networkInterfaces): string {
  if (!isWildcard(host)) return host;
  const outer = outerAddresses(interfaces);
  return (
    (outer.find(({ family }) => family === 'IPv4') ?? outer.find(({ scopeid }) => scopeid === 0))?.address ??
    'localhost'
  );
}

/** getifaddrs(3) opens a netlink socket, which a sandbox may refuse. */
function outerAddresses(interfaces: typeof networkInterfaces): NetworkInterfaceInfo[] {
  try {
    return Object.values(interfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal }) => !internal);
  } catch {
    return [];
  }
}

/** The web URL for links: the configured one, otherwise that of the listener. */
export function webAddress(config: Config): string {
  if (config.baseUrl !== null) return config.baseUrl;
  return readRunningServer(config.dataDir)?.webUrl ?? shownAddresses(config, config.http.listen, null).web;
}

/** Origin of the server on this machine. */
export function localOrigin(config: Config): string {
  const { host, port } = readRunningServer(config.dataDir)?.http ?? config.http.listen;
  const local = host === '::' ? '::1' : host === '0.0.0.0' ? '127.0.0.1' : host;
  return `http://${urlHost(local)}:${port}`;
}

/** Clone URLs of a repository. */
export function cloneAddresses(
  config: Config,
  { owner, name }: { owner: string; name: string },
): { http: string; ssh: string | null } {
  const facts = readRunningServer(config.dataDir);
  const web = webAddress(config);
  const configured = config.ssh.systemSshd
    ? { host: '0.0.0.0', port: 22 }
    : config.ssh.enabled
      ? config.ssh.listen
      : null;
  const listening = facts === null ? configured : facts.ssh;
  const { ssh } = shownAddresses(config, facts?.http ?? config.http.listen, listening);
  return { http: `${web}/git/${owner}/${name}.git`, ssh: ssh === null ? null : `${ssh}/${owner}/${name}.git` };
}
