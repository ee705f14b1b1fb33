/**
 * Whether a URL's host is on an administrator's list: exact names and addresses, in lower case, each with an optional
 * port. A bare name allows the default port only: another one is another service on that machine.
 */
export function isAllowedHost(url: URL, hosts: readonly string[]): boolean {
  const { hostname } = url;
  const port = url.port || defaultPort(url);
  return hosts.includes(`${hostname}:${port}`) || (port === defaultPort(url) && hosts.includes(hostname));
}

/**
 * How to add a host to such a list, for a refused person: the setting with the entry, since a port belongs to it.
 * @param setting `webhooks.allowed_hosts`
 * @param text the refused URL
 */
export function allowedHostsHint(setting: string, text: string): string {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return `An administrator can allow the host: ${setting}.`;
  const port = url.port || defaultPort(url);
  const entry = port === defaultPort(url) ? url.hostname : `${url.hostname}:${port}`;
  return `An administrator can allow the host: ${setting} = ["${entry}"].`;
}

const defaultPort = ({ protocol }: URL): string => (protocol === 'http:' ? '80' : protocol === 'ssh:' ? '22' : '443');
