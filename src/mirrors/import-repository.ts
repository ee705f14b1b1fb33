import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { NewRepository, Repository } from '../repositories/index.ts';
import { hostOf } from './describe-mirror.ts';
import { minIntervalMs, readInput, refusePassword } from './mirror-input.ts';
import { mirrorSchema } from './mirror-schema.ts';
import { newMirrorState } from './mirror-state.ts';
import type { MirrorRow } from './mirror-schema.ts';
import { openHttpRemote, openSshRemote, readHostKey, encryptSecret, probeAddress } from './remote-credentials.ts';
import type { RemoteAddress } from './remote-address.ts';
import type { MirrorDeps } from './deps.ts';
import { makeMirrorKey, readMirrorKey, encryptKey } from './ssh-key.ts';
import type { MirrorKey } from './ssh-key.ts';

interface ImportInput extends NewRepository {
  address: string;
  username?: string | undefined;
  secret?: string | undefined;
  /** A private key already added at the remote, in OpenSSH's format; by default a new key pair is generated. */
  sshKey?: string | undefined;
  /** Whether to import releases with their notes and files, from a forge over http. */
  withReleases?: boolean | undefined;
  /** Whether it stays a pull mirror. */
  keepMirroring: boolean;
}

/**
 * Creates a repository from a remote. It exists at once, and its page shows the progress of the transfer; over ssh with
 * a new key the transfer waits until that key was added at the remote. Throws the errors of `createRepository` and
 * `saveMirror`; then nothing is created.
 */
export async function importRepository(
  deps: MirrorDeps,
  viewer: Viewer,
  {
    address: given,
    username = '',
    secret = '',
    sshKey,
    keepMirroring,
    withReleases = false,
    ...repository
  }: ImportInput,
): Promise<Repository> {
  const tried = { direction: 'pull', intervalMs: minIntervalMs, prune: true, withReleases };
  const input = { ...tried, address: given, username, secret };
  const { address } = readInput(input);
  const ssh = await contact(deps, address, { username, secret }, sshKey);
  const made = await deps.repositories.create(viewer, repository);
  const { id: repositoryId } = made;
  await deps.db.write(({ manager, now }) =>
    manager.insert(mirrorSchema, {
      repositoryId,
      direction: 'pull',
      url: address.text,
      username: ssh === null ? username : '',
      secretCiphertext: secret === '' ? null : encryptSecret(deps, repositoryId, address.text, secret),
      ...(ssh === null ? noSsh : { ...encryptKey(deps, repositoryId, ssh.key), hostKey: ssh.hostKey }),
      offeredHostKey: null,
      intervalMs: keepMirroring ? 8 * 3_600_000 : null,
      prune: true,
      withReleases,
      ...newMirrorState(now),
      isPaused: ssh !== null && sshKey === undefined,
    }),
  );
  deps.logger.info('mirror.saved', {
    repositoryId,
    direction: 'pull',
    host: hostOf(address.text),
    isImport: !keepMirroring,
    by: viewerForLog(viewer),
  });
  return made;
}

export const noSsh = { sshKeyCiphertext: null, sshPublicKey: null, hostKey: null } satisfies Partial<MirrorRow>;

/** Checks as much as possible before anything is created: the remote does not know a new key yet. */
async function contact(
  deps: MirrorDeps,
  address: RemoteAddress,
  credentials: { username: string; secret: string },
  sshKey: string | undefined,
): Promise<{ key: MirrorKey; hostKey: string } | null> {
  if (address.kind === 'http') {
    await probeAddress(address.text, async () =>
      deps.git.remotes.list(await openHttpRemote(deps, address, credentials)),
    );
    return null;
  }
  const comment = `mirror@${deps.settings.name}`;
  const key = sshKey === undefined ? makeMirrorKey(comment) : readMirrorKey(sshKey, comment);
  const hostKey = await probeAddress(address.text, () => readHostKey(deps, address));
  refusePassword(credentials.secret);
  if (sshKey !== undefined) {
    const { privateKey } = key;
    await probeAddress(address.text, async () =>
      deps.git.remotes.list(await openSshRemote(deps, address, { privateKey, hostKey })),
    );
  }
  return { key, hostKey };
}
