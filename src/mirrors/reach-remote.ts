import { invalid, isDomainError, unavailable } from '../kernel/index.ts';
import type { Remote } from '../git/index.ts';
import { seal, unseal } from '../sealing/index.ts';
import type { MirrorRow } from './mirror-schema.ts';
import type { MirrorRoom } from './room.ts';

/** Ciphertext opens only for the repository and the address that it was given for. */
const placeOf = (repositoryId: string, url: string): string => `mirror:${repositoryId}:${new URL(url).origin}`;

export function sealSecret({ key, random }: MirrorRoom, repositoryId: string, url: string, secret: string): string {
  return seal(key.for('secrets'), random, placeOf(repositoryId, url), secret);
}

/**
 * Where a mirror leads, with the addresses that git may connect to: looked up now, once.
 * Refuses as `outbound.resolve` does, and `mirror_secret_closed` where the key of the instance is another one by now.
 */
export async function reachRemote(
  room: MirrorRoom,
  row: Pick<MirrorRow, 'repositoryId' | 'url' | 'username' | 'secretCiphertext'>,
): Promise<Remote> {
  const secret =
    row.secretCiphertext === null
      ? ''
      : unseal(room.key.for('secrets'), placeOf(row.repositoryId, row.url), row.secretCiphertext);
  if (secret === null)
    throw unavailable('mirror_secret_closed', 'Its password does not open with this server’s key. Set it again.');
  return reachAddress(room, { url: row.url, username: row.username, secret });
}

export async function reachAddress(
  { outbound, settings }: MirrorRoom,
  { url, username, secret }: { url: string; username: string; secret: string },
): Promise<Remote> {
  return { ...(await outbound.resolve(url)), username, secret, caFile: settings.caFile };
}

/** Why a mirror did not work, for whoever looks after it; a refusal of ours names the setting that helps. */
export function wordsFor(error: unknown): string {
  if (!isDomainError(error) || error.code === 'internal') return 'Something went wrong here; the log knows more.';
  if (/not public|not a public/.test(error.message))
    return `${error.message} An administrator can allow the host: mirrors.allowed_hosts.`;
  return error.message;
}

/** Tries an address before it is kept. Refuses `mirror_address_refused`, beside its field. */
export async function tryAddress(
  room: MirrorRoom,
  address: { url: string; username: string; secret: string },
): Promise<void> {
  try {
    await room.git.listRemote(await reachAddress(room, address));
  } catch (error) {
    if (!isDomainError(error) || error.code === 'internal') throw error;
    throw invalid('mirror_address_refused', wordsFor(error), { field: 'address', cause: error });
  }
}
