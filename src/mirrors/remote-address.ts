import { invalid } from '../kernel/index.ts';

/** The URL of a remote repository, normalised from user input. */
export type RemoteAddress = HttpAddress | SshAddress;

export interface HttpAddress {
  kind: 'http';
  /** In the stored and displayed form. */
  text: string;
  /** Scheme, host and port: the scope of a stored secret. */
  origin: string;
}

export interface SshAddress {
  kind: 'ssh';
  /** `ssh://user@host/path`, or `user@host:path` for a path relative to the home of `user`. */
  text: string;
  /** `ssh://host`, with the port unless it is 22: the scope of a trusted host key. */
  origin: string;
  user: string;
  host: string;
  port: number;
  /** With a leading slash unless it is relative. */
  path: string;
}

const maxLength = 1_000;
/** The usual account name of forges. */
const defaultUser = 'git';

const refuse = (message: string) => invalid('invalid_mirror', message, { field: 'address' });

/**
 * Parses the URL of a repository, or the scp form `user@host:path`. Does not check whether this server may connect to
 * it. Throws `invalid_mirror`.
 */
export function parseRemoteAddress(given: string): RemoteAddress {
  const text = given.trim();
  if (text === '' || text.length > maxLength || /[\x00-\x1f\x7f]/.test(text)) throw noAddress();
  // A URL has two slashes after its scheme; the scp form never has them before its colon.
  if (/^ssh:\/\//i.test(text)) return parseSshUrl(text);
  if (/^[^/:@]+@[^/]/.test(text) && !text.includes('://')) return parseScpForm(text);
  const url = URL.parse(text);
  if (url === null || url.search !== '' || url.hash !== '') throw noAddress();
  if (url.username !== '' || url.password !== '')
    throw refuse('Give the username and the password in their own fields.');
  return { kind: 'http', text: url.href, origin: `${url.protocol}//${url.host}` };
}

const noAddress = () => refuse('This is not the address of a repository.');

function parseSshUrl(text: string): SshAddress {
  const [, user = defaultUser, host = '', port = '22', path = ''] =
    /^ssh:\/\/(?:([^@/]*)@)?(\[[^\]/]*\]|[^:/@[\]]+)(?::(\d{1,5}))?(\/.*)?$/i.exec(text) ?? [];
  if (user.includes(':')) throw refuse('An ssh address has no password: a mirror signs in with its own key.');
  return make(user, host, Number(port), path);
}

function parseScpForm(text: string): SshAddress {
  const [, user = '', host = '', path = ''] = /^([^@]*)@(\[[^\]/]*\]|[^:/@[\]]+):(.*)$/.exec(text) ?? [];
  return make(user, host, 22, path);
}

/** No part may begin with a dash: a program could parse it as an option. */
function make(user: string, givenHost: string, port: number, path: string): SshAddress {
  const host = readHost(givenHost);
  if (host === null || port < 1 || port > 65_535 || !isPath(path)) throw noAddress();
  if (!/^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/.test(user)) throw refuse('This is not the username of an ssh address.');
  const origin = port === 22 ? `ssh://${host}` : `ssh://${host}:${port}`;
  const text = path.startsWith('/') ? origin.replace('//', `//${user}@`) + path : `${user}@${host}:${path}`;
  return { kind: 'ssh', text, origin, user, host, port, path };
}

/** Normalised as in an https URL: lower case, `127.0.0.1` for `0x7f.1`; null for an invalid host. */
function readHost(text: string): string | null {
  if (!/^(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])$/.test(text)) return null;
  return URL.parse(`https://${text}`)?.hostname ?? null;
}

function isPath(path: string): boolean {
  if (path === '' || path === '/' || path.startsWith('-')) return false;
  if (!path.startsWith('/')) return true;
  try {
    // git decodes the path of a URL.
    return !/[\x00-\x1f\x7f]/.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}
