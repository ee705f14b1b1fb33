/**
 * Whether a URL's host is on a list that an administrator wrote: exact names and addresses,
 * in lower case, each perhaps with a port. A bare name speaks of the usual port only:
 * another one is another service on that machine.
 */
export function isListed(url: URL, hosts: readonly string[]): boolean {
  const standard = url.protocol === 'http:' ? '80' : '443';
  const exact = `${url.hostname}:${url.port === '' ? standard : url.port}`;
  return hosts.includes(exact) || (url.port === '' && hosts.includes(url.hostname));
}
