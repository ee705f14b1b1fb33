import { isIP } from 'node:net';
import { sshLocator, withSsh } from './ssh.ts';
import type { SshRemote, SshTools } from './ssh.ts';

/** A repository on another host, and how to reach it. */
export type Remote = HttpRemote | SshRemote;

export interface HttpRemote {
  /** Checked by the caller: scheme, host, no credentials in it. */
  url: URL;
  /** The only addresses that git may connect to; names are not resolved again. */
  addresses: readonly string[];
  username: string;
  /** Empty for none. */
  secret: string;
  /** PEM file with additional certificate authorities; null for the usual ones only. */
  caFile: string | null;
}

/** Defects of old history that a copy must accept, as pushes do. */
export const ignoredFsckMessages = [
  'zeroPaddedFilemode',
  'badTimezone',
  'missingSpaceBeforeDate',
  'zeroPaddedDate',
  'missingEmail',
  'nullSha1',
];

/** The remote in git's arguments, which all users of the machine can read: without secrets. */
export const urlWithoutCredentials = (remote: Remote): string =>
  'ssh' in remote ? sshLocator(remote) : remote.url.href;

/** Runs git with the environment for a remote. Throws `ssh_client_missing`. */
export function withRemote<T>(
  tools: SshTools,
  remote: Remote,
  work: (environment: Record<string, string>) => Promise<T>,
): Promise<T> {
  if (!('ssh' in remote)) return work(httpEnvironment(remote));
  return withSsh(tools, remote, (environment) => work({ ...singleProtocolEnvironment('ssh'), ...environment }));
}

/** Allows one protocol only. */
export const singleProtocolEnvironment = (scheme: string, more: readonly [key: string, value: string][] = []) => {
  const settings: [key: string, value: string][] = [
    ['credential.helper', ''],
    ['protocol.allow', 'never'],
    [`protocol.${scheme}.allow`, 'always'],
    // Always a pack, whose size is watched.
    ['fetch.unpackLimit', '1'],
    ...ignoredFsckMessages.map((name): [string, string] => [`fetch.fsck.${name}`, 'ignore']),
    ...more,
  ];
  return {
    GIT_ALLOW_PROTOCOL: scheme,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
};

/**
 * The environment of a git process that connects to a remote over HTTP. Settings are passed here instead of in its
 * arguments, which all users of the machine can read: one protocol, the checked addresses, no redirect, no helper, no
 * proxy.
 */
function httpEnvironment({ url, addresses, username, secret, caFile }: HttpRemote): Record<string, string> {
  const scheme = url.protocol.replace(':', '');
  const host = url.hostname;
  const port = url.port || (scheme === 'http' ? '80' : '443');
  const settings: [key: string, value: string][] = [
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '16'],
    ['http.lowSpeedTime', '60'],
    ['http.emptyAuth', 'false'],
    ['http.saveCookies', 'false'],
    ...(caFile === null ? [] : ([['http.sslCAInfo', caFile]] as [string, string][])),
    // A literal address needs no resolution.
    ...(isIP(host.replace(/^\[|\]$/g, '')) !== 0
      ? []
      : ([['http.curloptResolve', `${host}:${port}:${addresses.map(bracketed).join(',')}`]] as [string, string][])),
    ...(secret === '' && username === ''
      ? []
      : ([['http.extraHeader', `Authorization: Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`]] as [
          string,
          string,
        ][])),
  ];
  return { NO_PROXY: '*', ...singleProtocolEnvironment(scheme, settings) };
}

const bracketed = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address);

/** Messages of failures that mean that a repository does not exist or is hidden from the caller. */
export const remoteMessages = {
  absent: 'There is no repository at this address, or it is hidden from these credentials.',
  asksForPassword: 'The remote asks for a username and a password, or refuses these.',
} as const;

/** git's error message in one line, for the owner of the mirror: no address, no secret. */
export function describeGitFailure(errorText: string): string {
  const lines = errorText
    .split(/[\r\n]+/)
    .map((line) => line.replace(/[\x00-\x1f\x7f]/g, ' ').trim())
    // Lines without information that git adds to each ssh failure.
    .filter(
      (line) =>
        line !== '' &&
        !/^(?:fatal: )?Could not read from remote|^and the repository exists|correct access rights/.test(line),
    );
  const line =
    lines.findLast((each) => /^(?:fatal|error|remote|ERROR):/i.test(each)) ??
    lines.at(-1) ??
    'git ended without a word';
  if (/could not read Username|Authentication failed|401/.test(errorText)) return remoteMessages.asksForPassword;
  if (/403/.test(line)) return 'The remote denies access with these credentials.';
  if (/not found|404/.test(line)) return remoteMessages.absent;
  if (/redirect/i.test(line)) return 'The address leads to another one. Give that one: redirects are not followed.';
  return `git said: ${line
    .replace(/^(?:fatal|error|remote):\s*/i, '')
    .replace(/(?:https?|ssh):\/\/\S+/g, 'the address')
    .slice(0, 300)}`;
}
