import { In, MoreThan } from 'typeorm';
import type { FindOptionsWhere } from 'typeorm';
import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { readCounts } from '../db/index.ts';
import { conflict, isDomainError } from '../kernel/index.ts';
import type { Found, PreReceiveCheck, PushListener } from '../repositories/index.ts';
import { describeMirror, hostOf } from './describe-mirror.ts';
import type { Mirror } from './describe-mirror.ts';
import { readInput, refusePassword } from './mirror-input.ts';
import type { MirrorInput } from './mirror-input.ts';
import { mirrorSchema } from './mirror-schema.ts';
import type { MirrorRow } from './mirror-schema.ts';
import { isWaitingForKey, newMirrorState } from './mirror-state.ts';
import { decryptSecret, openHttpRemote, readHostKey, encryptSecret, probeAddress } from './remote-credentials.ts';
import { parseRemoteAddress } from './remote-address.ts';
import type { HttpAddress, SshAddress } from './remote-address.ts';
import type { MirrorDeps } from './deps.ts';
import { copyPauseMs, refuseCopiedMirror } from './kept-copies.ts';
import { makeMirrorKey, encryptKey } from './ssh-key.ts';
import { deleteFetchedRefs } from './delete-fetched-refs.ts';

const noMirror = () => conflict('no_mirror', 'This repository is not a mirror.');

/** Null if the repository is not a mirror. */
export async function findMirror(deps: MirrorDeps, repositoryId: string): Promise<Mirror | null> {
  const row = await deps.db.read.findOneBy(mirrorSchema, { repositoryId });
  return row === null ? null : describeMirror(deps, row);
}

/** The mirrors among some repositories, by repository. */
export async function mirrorsOf(deps: MirrorDeps, repositoryIds: readonly string[]): Promise<Map<string, Mirror>> {
  const rows = await deps.db.read.findBy(mirrorSchema, { repositoryId: In([...repositoryIds]) });
  return new Map(rows.map((row) => [row.repositoryId, describeMirror(deps, row)]));
}

/** Every mirror, for the command line. */
export async function listMirrors(deps: MirrorDeps): Promise<Mirror[]> {
  return (await deps.db.read.find(mirrorSchema, { order: { createdAt: 'ASC', repositoryId: 'ASC' } })).map((row) =>
    describeMirror(deps, row),
  );
}

/** Mirrors whose last transfer failed, the longest failing first, and the number of all mirrors. For administrators. */
export async function listFailing(
  deps: MirrorDeps,
  { limit }: { limit: number },
): Promise<{ failing: Mirror[]; failingCount: number; count: number }> {
  const [rows, counts] = await Promise.all([
    deps.db.read.find(mirrorSchema, {
      where: { failures: MoreThan(0) },
      order: { failures: 'DESC', repositoryId: 'ASC' },
      take: limit,
    }),
    readCounts(deps.db.read),
  ]);
  return {
    failing: rows.map((row) => describeMirror(deps, row)),
    failingCount: counts.failing_mirrors,
    count: counts.mirrors,
  };
}

/**
 * Makes a repository a mirror, or changes one. Contacts the remote before anything is stored. A mirror over ssh with a
 * new key waits until that key was added at the remote (`isWaitingForKey`). Throws `mirror_address_refused`,
 * `invalid_mirror`, `mirror_is_copy`, `repository_not_empty` for a pull mirror of a repository with branches of its
 * own.
 */
export async function saveMirror(
  deps: MirrorDeps,
  viewer: Viewer,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
  input: MirrorInput,
): Promise<Mirror> {
  const { direction, address, username, intervalMs, withReleases } = readInput(input);
  const { id } = repository;
  const before = await deps.db.read.findOneBy(mirrorSchema, { repositoryId: id });
  refuseCopiedMirror(before);
  if (direction === 'pull' && before?.direction !== 'pull' && (await deps.git.refs.list(path)).size > 0) {
    throw conflict(
      'repository_not_empty',
      'This repository already has branches. Create a new repository for the copy.',
    );
  }
  const credentials =
    address.kind === 'ssh'
      ? await sshCredentials(deps, id, address, before, input)
      : await httpCredentials(deps, id, address, before, {
          username,
          secret: input.secret ?? '',
          mayBeUnreachable: input.mayBeUnreachable ?? false,
        });
  await deps.db.write(async ({ manager, now }) => {
    const columns = {
      direction,
      url: address.text,
      username,
      intervalMs,
      prune: input.prune,
      withReleases,
      updatedAt: now,
      isPaused: false,
      failures: 0,
      lastError: null,
      failingSince: null,
      nextAt: now,
      ...credentials,
    };
    if (before === null) {
      await manager.insert(mirrorSchema, { ...newMirrorState(now), ...columns, repositoryId: id });
    } else await manager.update(mirrorSchema, { repositoryId: id }, columns);
  });
  deps.logger.info('mirror.saved', {
    repositoryId: id,
    direction,
    host: hostOf(address.text),
    by: viewerForLog(viewer),
  });
  return (await findMirror(deps, id))!;
}

type Credentials = Pick<
  MirrorRow,
  'secretCiphertext' | 'sshKeyCiphertext' | 'sshPublicKey' | 'hostKey' | 'offeredHostKey'
> &
  Partial<Pick<MirrorRow, 'isPaused' | 'lastStartedAt'>>;

const isSameHost = (before: MirrorRow | null, { origin }: HttpAddress | SshAddress): boolean =>
  before !== null && parseRemoteAddress(before.url).origin === origin;

/** An omitted secret stays valid for its original host, and is never sent to another. */
async function httpCredentials(
  deps: MirrorDeps,
  id: string,
  address: HttpAddress,
  before: MirrorRow | null,
  { username, secret, mayBeUnreachable }: { username: string; secret: string; mayBeUnreachable: boolean },
): Promise<Credentials> {
  const url = address.text;
  const stored = secret === '' && isSameHost(before, address) ? before : null;
  // A stored secret was checked when it was entered; without it the remote would refuse.
  if (stored === null || stored.secretCiphertext === null || stored.url !== url || stored.username !== username) {
    const known = stored === null ? secret : decryptSecret(deps, stored);
    await probeAddress(url, async () =>
      deps.git.remotes.list(await openHttpRemote(deps, address, { username, secret: known })),
    ).catch((error: unknown) => {
      const cause = isDomainError(error) ? error.cause : null;
      if (!mayBeUnreachable || !isDomainError(cause) || cause.reason !== 'peer_unreachable') throw error;
    });
  }
  return {
    secretCiphertext: secret !== '' ? encryptSecret(deps, id, url, secret) : (stored?.secretCiphertext ?? null),
    sshKeyCiphertext: null,
    sshPublicKey: null,
    hostKey: null,
    offeredHostKey: null,
  };
}

/** The key of a mirror stays with it; the trusted host key stays with the host. */
async function sshCredentials(
  deps: MirrorDeps,
  id: string,
  address: SshAddress,
  before: MirrorRow | null,
  { newKey = false, secret }: MirrorInput,
): Promise<Credentials> {
  const known = isSameHost(before, address) ? before : null;
  const hostKey = known?.hostKey ?? (await probeAddress(address.text, () => readHostKey(deps, address)));
  refusePassword(secret);
  const offeredHostKey = known?.offeredHostKey ?? null;
  if (before === null || before.sshKeyCiphertext === null || newKey) {
    const key = encryptKey(deps, id, makeMirrorKey(`mirror@${deps.settings.name}`));
    return { secretCiphertext: null, ...key, hostKey, offeredHostKey, isPaused: true, lastStartedAt: null };
  }
  const { sshKeyCiphertext, sshPublicKey } = before;
  const isPaused = isWaitingForKey(before) || offeredHostKey !== null;
  return { secretCiphertext: null, sshKeyCiphertext, sshPublicKey, hostKey, offeredHostKey, isPaused };
}

/** Makes the mirror due now, a kept copy a minute after its last transfer. Throws `no_mirror`. */
export async function requestSync({ db }: MirrorDeps, repositoryId: string): Promise<void> {
  const isThere = await db.write(async ({ manager, now }) => {
    const row = await manager.findOneBy(mirrorSchema, { repositoryId });
    const earliest = row?.isCopy === true ? (row.lastStartedAt ?? 0) + copyPauseMs : 0;
    await manager.update(mirrorSchema, { repositoryId }, { nextAt: Math.max(now, earliest), isPaused: false });
    return row !== null;
  });
  if (!isThere) throw noMirror();
}

/** Throws `no_mirror`. */
export async function setPaused(
  deps: MirrorDeps,
  viewer: Viewer,
  repositoryId: string,
  isPaused: boolean,
): Promise<void> {
  const { affected } = await deps.db.write(({ manager, now }) =>
    manager.update(
      mirrorSchema,
      { repositoryId },
      { isPaused, ...(isPaused ? {} : { failures: 0, nextAt: now }), updatedAt: now },
    ),
  );
  if (affected === 0) throw noMirror();
  deps.logger.info(isPaused ? 'mirror.paused_by_hand' : 'mirror.resumed', { repositoryId, by: viewerForLog(viewer) });
}

/** Turns the mirror into an ordinary repository; its content stays. Throws `no_mirror`, `mirror_is_copy`. */
export async function endMirror(
  deps: MirrorDeps,
  viewer: Viewer,
  { repository: { id }, path }: Pick<Found, 'repository' | 'path'>,
): Promise<void> {
  const { affected } = await deps.db.write(async ({ manager }) => {
    refuseCopiedMirror(await manager.findOneBy(mirrorSchema, { repositoryId: id }));
    return manager.delete(mirrorSchema, { repositoryId: id });
  });
  if (affected === 0) throw noMirror();
  await deleteFetchedRefs(deps.git, path);
  deps.logger.info('mirror.ended', { repositoryId: id, by: viewerForLog(viewer) });
}

/** Refuses pushes by users to a pull mirror: the next sync would overwrite their commits. */
export const refusePushesToMirrors: PreReceiveCheck = async ({ before }, repository) => {
  const row = await before.findOneBy(mirrorSchema, { repositoryId: repository.id, direction: 'pull' });
  if (row === null) return null;
  return row.intervalMs === null
    ? 'this repository is still being imported'
    : `this repository is a copy of ${row.url}; push there`;
};

/** Subscribes to pushes: push mirrors of the repository become due. */
export function onPush({ db }: MirrorDeps, wake: () => void): PushListener<FindOptionsWhere<MirrorRow>> {
  return {
    name: 'mirrors',
    async prepare({ via, repository: { id: repositoryId } }) {
      const following = { repositoryId, direction: 'push', isPaused: false, failures: 0 } as const;
      return via === 'mirror' || !(await db.read.existsBy(mirrorSchema, following)) ? null : following;
    },
    async record({ manager, now }, _push, following) {
      await manager.update(mirrorSchema, following, { nextAt: now });
    },
    recorded: () => wake(),
  };
}
