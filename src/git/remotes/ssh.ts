import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import { internal, isProcessAlive, unavailable } from '../../kernel/index.ts';

/** A host that is reached by ssh, at the one checked address. */
export interface SshHost {
  user: string;
  /** Name or address as in a URL: an IPv6 address in brackets. */
  host: string;
  port: number;
  /** The address for ssh; the name is not resolved again. */
  address: string;
}

/** A repository on such a host. */
export interface SshRemote {
  ssh: SshHost;
  /** Starts with a slash, percent-encoded as in a URL; or relative to the home of `user`, unencoded. */
  path: string;
  /** In OpenSSH's format. */
  privateKey: string;
  /** The only host key that is accepted: `ssh-ed25519 AAAA…`. */
  hostKey: string;
}

/** Requirements of an ssh connection besides git. */
export interface SshTools {
  /** Folder of the connection's temporary files. */
  folder: string;
  /** Folders in which the ssh program is looked up, separated by colons. */
  searchPath: string;
}

const prefix = 'ssh-';
/**
 * Files in the folder of a connection; ssh starts there, because its options expand characters that a path may contain.
 */
const [keyFile, knownHostsFile] = ['key', 'known_hosts'] as const;

/**
 * Overrides everything that ssh would read from its own configuration: no file, no agent, no proxy, no forwarding, one
 * key, one host key, and a timeout for a silent host.
 */
const options = [
  'BatchMode=yes',
  `UserKnownHostsFile=${knownHostsFile}`,
  'GlobalKnownHostsFile=/dev/null',
  'CheckHostIP=no',
  'HashKnownHosts=no',
  'UpdateHostKeys=no',
  'VerifyHostKeyDNS=no',
  'CanonicalizeHostname=no',
  'ProxyCommand=none',
  'ProxyJump=none',
  'PermitLocalCommand=no',
  'ControlMaster=no',
  'ControlPath=none',
  'ClearAllForwardings=yes',
  'ForwardAgent=no',
  'ForwardX11=no',
  'IdentitiesOnly=yes',
  'IdentityAgent=none',
  'PKCS11Provider=none',
  'AddKeysToAgent=no',
  'PasswordAuthentication=no',
  'KbdInteractiveAuthentication=no',
  'GSSAPIAuthentication=no',
  'HostbasedAuthentication=no',
  // The same connect timeout as for https; then a minute of silence, like http.lowSpeedTime.
  'ConnectTimeout=10',
  'ServerAliveInterval=15',
  'ServerAliveCountMax=4',
  'LogLevel=ERROR',
];

/** The repository in git's arguments. */
export function sshLocator({ ssh, path: repository }: SshRemote): string {
  refuseOptions(ssh);
  const where = `${ssh.user}@${ssh.host}`;
  return repository.startsWith('/') ? `ssh://${where}:${ssh.port}${repository}` : `${where}:${repository}`;
}

/** Defence in depth: the caller has checked these, and nothing that looks like an option passes here. */
export function refuseOptions({ user, host, address }: SshHost): void {
  const isPlain = /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/.test(user) && /^[a-z0-9[][a-z0-9._:[\]-]*$/.test(host);
  if (!isPlain || isIP(address) === 0) throw internal('an ssh address was not judged');
}

/**
 * Runs git with an ssh connection to a remote, with the key in a private folder for that time. Throws
 * `ssh_client_missing`.
 * @param work receives the environment variables by which git uses this connection
 */
export async function withSsh<T>(
  tools: SshTools,
  { ssh, privateKey, hostKey }: SshRemote,
  work: (environment: Record<string, string>) => Promise<T>,
): Promise<T> {
  const program = findSsh(tools);
  return inFolder(tools, async (folder) => {
    await writeFile(path.join(folder, keyFile), privateKey, { mode: 0o600, flag: 'wx' });
    await writeFile(path.join(folder, knownHostsFile), `${aliasOf(ssh)} ${hostKey}\n`, { mode: 0o600, flag: 'wx' });
    return work(
      environmentOf(program, folder, ssh, [
        'StrictHostKeyChecking=yes',
        'PreferredAuthentications=publickey',
        `IdentityFile=${keyFile}`,
      ]),
    );
  });
}

/**
 * The host key that a host currently presents, `ssh-ed25519 AAAA…`; the connection is not authenticated. Null if none
 * was received. Throws `ssh_client_missing`.
 * @param work connects; its result is ignored
 */
export async function readHostKey(
  tools: SshTools,
  ssh: SshHost,
  work: (environment: Record<string, string>) => Promise<void>,
): Promise<string | null> {
  const program = findSsh(tools);
  refuseOptions(ssh);
  return inFolder(tools, async (folder) => {
    await work(
      environmentOf(program, folder, ssh, ['StrictHostKeyChecking=accept-new', 'PreferredAuthentications=none']),
    );
    const text = await readFile(path.join(folder, knownHostsFile), 'utf8').catch(() => '');
    return /^\S+ ([a-z0-9@.-]+ [A-Za-z0-9+/=]+)$/m.exec(text)?.[1] ?? null;
  });
}

/** The name in known_hosts; it also prevents ssh from resolving the address. */
const aliasOf = ({ host, port }: SshHost): string =>
  port === 22 ? host.replace(/^\[|\]$/g, '') : `[${host.replace(/^\[|\]$/g, '')}]:${port}`;

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

function environmentOf(program: string, folder: string, ssh: SshHost, more: readonly string[]): Record<string, string> {
  const all = [...options, ...more, `HostName=${ssh.address}`, `HostKeyAlias=${aliasOf(ssh)}`];
  const words = [quoted(program), '-F', 'none', '-T', ...all.flatMap((option) => ['-o', quoted(option)])];
  return {
    // A shell runs it, with the destination and the command appended.
    GIT_SSH_COMMAND: `cd ${quoted(folder)} && exec ${words.join(' ')}`,
    GIT_SSH_VARIANT: 'ssh',
  };
}

function findSsh({ searchPath }: SshTools): string {
  for (const folder of searchPath.split(':').filter(path.isAbsolute)) {
    const candidate = path.join(folder, 'ssh');
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not in this folder.
    }
  }
  throw unavailable(
    'ssh_client_missing',
    'The ssh program is not installed on this server. An administrator can install the package openssh-client or openssh.',
  );
}

async function inFolder<T>({ folder: parent }: SshTools, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(parent, `${prefix}${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes keys of a killed process. Called at start, before this process has any. */
export async function removeStrayKeys(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const owner = Number(/^ssh-(\d+)-/.exec(name)?.[1] ?? 0);
    // The process may be a command that runs beside the server.
    if (owner === 0 || (owner !== process.pid && isProcessAlive(owner))) continue;
    await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

/** Why an ssh connection failed, for the owner of the mirror; null if ssh is not the cause. */
export function sshFailure(errorText: string) {
  if (/Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/i.test(errorText))
    return unavailable('host_key_changed', 'The remote presents a host key that differs from the trusted one.');
  if (/Permission denied \(/.test(errorText))
    return unavailable('remote_key_refused', 'The remote does not accept the SSH key of this mirror.');
  if (/No user exists for uid/.test(errorText))
    return unavailable(
      'remote_failed',
      'The ssh program requires an entry in /etc/passwd for the user that runs this server.',
    );
  const why =
    /connect to host \S+ port \d+: ([^\r\n]{1,200})/.exec(errorText) ??
    /^(?:ssh|kex_exchange_identification): ([^\r\n]{1,200})/m.exec(errorText);
  return why === null ? null : unavailable('remote_failed', `The SSH connection failed: ${why[1]!.trim()}.`);
}
