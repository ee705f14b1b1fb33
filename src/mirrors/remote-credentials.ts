import { invalid, isRefusal, unavailable } from '../kernel/index.ts';
import type { Remote, SshHost } from '../git/index.ts';
import { allowedHostsHint } from '../outbound/index.ts';
import { encrypt, decrypt } from '../sealing/index.ts';
import type { MirrorRow } from './mirror-schema.ts';
import { parseRemoteAddress } from './remote-address.ts';
import type { HttpAddress, SshAddress } from './remote-address.ts';
import type { MirrorDeps } from './deps.ts';
import { decryptKey } from './ssh-key.ts';

/** Warning about http URLs. */
export const plainHttpRisk =
  'Without TLS, anyone on the network path can read the password and the code, and change what arrives.';

/** Additional data of the encryption: a ciphertext decrypts only for its own repository and URL. */
export const placeOfSecret = (repositoryId: string, url: string): string =>
  `mirror:${repositoryId}:${parseRemoteAddress(url).origin}`;

export function encryptSecret({ key, random }: MirrorDeps, repositoryId: string, url: string, secret: string): string {
  return encrypt(key.for('secrets'), random, placeOfSecret(repositoryId, url), secret);
}

/** Empty for none. Throws `mirror_secret_closed` if the instance key or the URL has changed. */
export function decryptSecret(
  { key }: MirrorDeps,
  { repositoryId, url, secretCiphertext }: Pick<MirrorRow, 'repositoryId' | 'url' | 'secretCiphertext'>,
): string {
  if (secretCiphertext === null) return '';
  const secret = decrypt(key.decrypting('secrets'), placeOfSecret(repositoryId, url), secretCiphertext);
  if (secret === null)
    throw unavailable(
      'mirror_secret_closed',
      'The mirror password cannot be decrypted with this server’s key. Set it again.',
    );
  return secret;
}

/**
 * Opens the remote of a mirror: resolves its host once, here, and limits git to those addresses. Throws
 * `mirror_secret_closed` and errors of `outbound.resolve`.
 */
export async function openRemote(deps: MirrorDeps, row: MirrorRow): Promise<Remote> {
  const address = parseRemoteAddress(row.url);
  if (address.kind === 'http')
    return openHttpRemote(deps, address, { username: row.username, secret: decryptSecret(deps, row) });
  if (row.hostKey === null)
    throw unavailable('host_key_unknown', 'The remote host key is not known yet. Save the mirror again.');
  return openSshRemote(deps, address, { privateKey: decryptKey(deps, row), hostKey: row.hostKey });
}

interface Credentials {
  username: string;
  secret: string;
}

export async function openHttpRemote(
  { outbound, settings }: MirrorDeps,
  { text }: HttpAddress,
  { username, secret }: Credentials,
): Promise<Remote> {
  return { ...(await outbound.resolve(text)), username, secret, caFile: settings.caFile };
}

export async function openSshRemote(
  deps: MirrorDeps,
  address: SshAddress,
  keys: { privateKey: string; hostKey: string },
): Promise<Remote> {
  return { ssh: await findHost(deps, address), path: address.path, ...keys };
}

async function findHost({ outbound }: MirrorDeps, { origin, user, host, port }: SshAddress): Promise<SshHost> {
  const { addresses } = await outbound.resolve(origin);
  return { user, host, port, address: await outbound.reachable(addresses, port) };
}

/** The host key that the remote currently presents. Throws the errors of `outbound.resolve` and `git.hostKeyOf`. */
export async function readHostKey(deps: MirrorDeps, address: SshAddress): Promise<string> {
  return deps.git.remotes.hostKeyOf(await findHost(deps, address));
}

/**
 * Why a mirror failed, for its owner; for a refusal by this server it names the relevant setting.
 * @param address URL of the remote
 */
export function describeFailure(error: unknown, address: string): string {
  if (!isRefusal(error)) return 'Something went wrong here; the log knows more.';
  const hint = allowedHostsHint('mirrors.allowed_hosts', originOf(address));
  switch (error.reason) {
    case 'https_only':
      return /^(?:http|ssh):/i.test(originOf(address))
        ? `Only https is allowed; http and ssh are for hosts that an administrator has named. ${hint}`
        : 'This is not an address of https, http or ssh.';
    case 'address_not_public':
      return `${error.message} ${hint}`;
    case 'peer_unreachable':
      return /not public/.test(error.message) ? `${error.message} ${hint}` : error.message;
    case 'remote_key_refused':
      return `${error.message} Add its public key there; a mirror that pushes needs to write.`;
    case 'host_key_changed':
      return `${error.message} Either the server was set up anew, or the connection is intercepted: compare the fingerprints before you accept the new one.`;
    default:
      return error.message;
  }
}

/** A URL with only the host of an address; empty if there is none. */
function originOf(address: string): string {
  if (/^[a-z]+:\/\//i.test(address)) return address;
  try {
    return parseRemoteAddress(address).origin;
  } catch {
    return '';
  }
}

/** Contacts a URL before it is stored. Throws `mirror_address_refused`, with its field. */
export async function probeAddress<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw invalid('mirror_address_refused', describeFailure(error, address), { field: 'address', cause: error });
  }
}
