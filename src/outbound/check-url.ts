import { isIP } from 'node:net';
import { forbidden, invalid } from '../kernel/index.ts';
import { isPublicAddress } from './public-address.ts';

export interface OutboundRules {
  /** Whether this host (and port) is allowed by name. Called before any network access. */
  isAllowed(url: URL): boolean | Promise<boolean>;
  /** Development only: permits http and private addresses; `isAllowed` still applies. */
  devAllowInsecure: boolean;
  /** Whether an administrator has listed this host (and port), whatever its address; defaults to none. */
  allowsPrivate?(url: URL): boolean;
  /**
   * Whether this host (and port) can be reached without TLS, because an administrator has listed it; defaults to none.
   */
  allowsHttp?(url: URL): boolean;
  /** Whether this host can be reached by ssh, which only `resolve` supports; defaults to none. */
  mayUseSsh?(url: URL): boolean;
}

/** Whether a URL may resolve to an address that is not public. */
export const mayBePrivate = (url: URL, rules: OutboundRules): boolean =>
  rules.devAllowInsecure || rules.allowsPrivate?.(url) === true;

/** `[::1]` without brackets, as resolvers and sockets expect it. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

export const privateAddress = (host: string) =>
  forbidden('address_not_public', `${host} is not a public address. Hearth only connects to public addresses.`);

/**
 * Whether the host of an ssh URL is already normalised as in an https URL: the URL parser rewrites spellings such as
 * `0x7f.1` only for schemes that it knows.
 */
const isParsedForm = ({ hostname }: URL): boolean => URL.parse(`https://${hostname}`)?.hostname === hostname;

/**
 * Checks a URL without network access. Only the parsed form counts: parsing turns `0x7f.1` and full-width digits into
 * `127.0.0.1`. Throws `invalid_url`, `https_only`, `host_not_allowed`, `address_not_public`.
 */
export async function checkUrl(text: string, rules: OutboundRules): Promise<URL> {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') throw invalid('invalid_url', 'This is not a URL.');
  const mayBePlain = url.protocol === 'http:' && (rules.devAllowInsecure || rules.allowsHttp?.(url) === true);
  const isNamedSsh = url.protocol === 'ssh:' && rules.mayUseSsh?.(url) === true && isParsedForm(url);
  if (url.protocol !== 'https:' && !mayBePlain && !isNamedSsh) throw forbidden('https_only', 'Only https is allowed');
  if (url.username !== '' || url.password !== '')
    throw invalid('invalid_url', 'The URL cannot contain a username or password.');
  if (!(await rules.isAllowed(url))) {
    throw forbidden('host_not_allowed', `${url.host} is not on this server's peer list.`);
  }
  // `connect` does not call the resolver for a literal address, so it is checked here.
  const host = bareHost(url);
  if (!mayBePrivate(url, rules) && isIP(host) !== 0 && !isPublicAddress(host)) throw privateAddress(url.hostname);
  return url;
}
