/**
 * Whether a URL's host is on a list that an administrator wrote: exact names and addresses,
 * in lower case, each perhaps with a port. A bare name speaks of the usual port only:
 * another one is another service on that machine.
 */
export function isListed(url: URL, hosts: readonly string[]): boolean {
  const { hostname } = url;
  const port = url.port || defaultPort(url);
  return hosts.includes(`${hostname}:${port}`) || (port === defaultPort(url) && hosts.includes(hostname));
}

/** What an administrator writes on such a list to name this host and port. */
export function hostEntry(url: URL): string {
  const port = url.port || defaultPort(url);
  return port === defaultPort(url) ? url.hostname : `${url.hostname}:${port}`;
}

const defaultPort = ({ protocol }: URL): string => (protocol === 'http:' ? '80' : protocol === 'ssh:' ? '22' : '443');
