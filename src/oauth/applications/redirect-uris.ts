import { invalid } from '../../kernel/index.ts';

const maxUris = 20;
const maxLength = 2000;
const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Schemes that a browser would run or open itself. */
const refusedSchemes = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'file:',
  'blob:',
  'about:',
  'ws:',
  'wss:',
  'ftp:',
]);

const refuse = (uri: string, reason: string) =>
  invalid('invalid_redirect_uri', `The redirect address "${uri.slice(0, 200)}" ${reason}`, { field: 'redirect_uris' });

export const isLoopback = (uri: string): boolean => {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'http:' && loopbackHosts.has(hostname);
};

/**
 * Whether two redirect addresses are of this machine and differ by nothing but the port: a program that lets the system
 * choose one may name another for the token than for the code (RFC 8252, 7.3).
 */
export function differOnlyByPort(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other) || !isLoopback(one) || !isLoopback(other)) return false;
  const [first, second] = [new URL(one), new URL(other)];
  first.port = second.port = '';
  return first.href === second.href;
}

/** A scheme that the program registered with the system: `com.example.app:/callback` (RFC 8252, 7.1). */
export const isOwnScheme = (uri: string): boolean => !/^https?:$/.test(new URL(uri).protocol);

function checkRedirectUri(uri: string): void {
  if (uri.length > maxLength) throw refuse(uri, `is longer than ${maxLength} characters.`);
  // A control character or a space is dropped or encoded by a browser, and never compared equal.
  if (/[\u0000-\u0020\u007f-\u009f*\\]/.test(uri)) throw refuse(uri, 'has a character that no address has.');
  if (!URL.canParse(uri)) throw refuse(uri, 'is not an absolute address.');
  const { protocol, hash, username, password } = new URL(uri);
  if (refusedSchemes.has(protocol)) throw refuse(uri, `must not use the scheme ${protocol.slice(0, -1)}.`);
  if (hash !== '' || uri.includes('#')) throw refuse(uri, 'must not have a fragment.');
  if (username !== '' || password !== '') throw refuse(uri, 'must not have a username or password.');
}

/**
 * The redirect addresses of an application, in the order given, without repetitions. They are compared as texts (RFC
 * 9700, 2.1), except for the port of a loopback address of a public client (RFC 8252, 7.3). Throws
 * `invalid_redirect_uri`.
 */
export function parseRedirectUris(given: readonly string[], { isConfidential }: { isConfidential: boolean }): string[] {
  const uris = [...new Set(given.map((uri) => uri.trim()).filter((uri) => uri !== ''))];
  if (uris.length === 0)
    throw invalid('invalid_redirect_uri', 'Enter at least one redirect address.', { field: 'redirect_uris' });
  if (uris.length > maxUris)
    throw invalid('invalid_redirect_uri', `Enter at most ${maxUris} redirect addresses.`, { field: 'redirect_uris' });
  for (const uri of uris) checkRedirectUri(uri);
  const local = uris.filter((uri) => isLoopback(uri) || isOwnScheme(uri));
  if (isConfidential) {
    const own = uris.find(isOwnScheme);
    if (own !== undefined) throw refuse(own, 'has a scheme of its own, which only a public client can use.');
  } else if (local.length > 0 && local.length < uris.length) {
    const web = uris.find((uri) => !local.includes(uri))!;
    throw refuse(web, 'is on the web, and others are of a program on a machine: make two applications.');
  }
  return uris;
}
