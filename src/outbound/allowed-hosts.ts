/**
 * Whether the host of a URL is on an administrator's list of exact names and addresses, in lower case, each with an
 * optional port. A name without a port allows only the default port: another port is another service on that machine.
 */
export function isAllowedHost(url: URL, hosts: readonly string[]): boolean {
  const { hostname } = url;
  const port = url.port || defaultPort(url);
  return hosts.includes(`${hostname}:${port}`) || (port === defaultPort(url) && hosts.includes(hostname));
}

/**
 * Tells users how to add a rejected host to such a list: the setting and the entry, including its port.
 * @param setting `webhooks.allowed_hosts`
 * @param text the rejected URL
 */
export function allowedHostsHint(setting: string, text: string): string {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return `An administrator can allow the host: ${setting}.`;
  const port = url.port || defaultPort(url);
  const entry = port === defaultPort(url) ? url.hostname : `${url.hostname}:${port}`;
  return `An administrator can allow the host: ${setting} = ["${entry}"].`;
}

const defaultPort = ({ protocol }: URL): string => (protocol === 'http:' ? '80' : protocol === 'ssh:' ? '22' : '443');
