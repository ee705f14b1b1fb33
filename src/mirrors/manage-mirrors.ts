import { MoreThan } from 'typeorm';
import type { FindOptionsWhere } from 'typeorm';
import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { readCounts } from '../db/index.ts';
import { conflict, invalid } from '../kernel/index.ts';
import type { Found, NewRepository, PushGuard, PushListener, Repository } from '../repositories/index.ts';
import { mirrorSchema } from './mirror-schema.ts';
import type { MirrorDirection, MirrorRow } from './mirror-schema.ts';
import { stateWord } from './mirror-state.ts';
import { reachRemote, sealSecret, tryAddress } from './reach-remote.ts';
import type { MirrorRoom } from './room.ts';
import { forgetFetched } from './sync.ts';

/** What anybody sees of a mirror: never its secret. */
export interface Mirror extends Omit<MirrorRow, 'secretCiphertext' | 'lockedUntil'> {
  hasSecret: boolean;
  /** `ok`, `failing 3`, `paused`, `new`. */
  state: string;
  /** In git's words, while this process is at work on it; null else. */
  progress: string | null;
  isRunning: boolean;
}

export interface MirrorInput {
  direction: string;
  address: string;
  username?: string | undefined;
  /** Left out or empty, it stays what it was, as long as the host does. */
  secret?: string | undefined;
  intervalMs: number;
  prune: boolean;
}

const minIntervalMs = 5 * 60_000;
const maxIntervalMs = 30 * 86_400_000;
const maxAddressLength = 1_000;

const noMirror = () => conflict('no_mirror', 'This repository is no mirror.');

function describe({ progress, clock }: MirrorRoom, { secretCiphertext, lockedUntil, ...row }: MirrorRow): Mirror {
  return {
    ...row,
    hasSecret: secretCiphertext !== null,
    state: stateWord(row),
    progress: progress.get(row.repositoryId) ?? null,
    isRunning: lockedUntil > clock.now(),
  };
}

/** Null for a repository that is none. */
export async function findMirror(room: MirrorRoom, repositoryId: string): Promise<Mirror | null> {
  const row = await room.db.read.findOneBy(mirrorSchema, { repositoryId });
  return row === null ? null : describe(room, row);
}

/** Every mirror, for the command line. */
export async function listMirrors(room: MirrorRoom): Promise<Mirror[]> {
  return (await room.db.read.find(mirrorSchema, { order: { createdAt: 'ASC', repositoryId: 'ASC' } })).map((row) =>
    describe(room, row),
  );
}

/** Those that failed the last time, the longest failing first, and how many mirrors there are. For administrators. */
export async function listFailing(
  room: MirrorRoom,
  { limit }: { limit: number },
): Promise<{ failing: Mirror[]; failingCount: number; count: number }> {
  const [rows, counts] = await Promise.all([
    room.db.read.find(mirrorSchema, {
      where: { failures: MoreThan(0) },
      order: { failures: 'DESC', repositoryId: 'ASC' },
      take: limit,
    }),
    readCounts(room.db.read),
  ]);
  return {
    failing: rows.map((row) => describe(room, row)),
    failingCount: counts.failing_mirrors,
    count: counts.mirrors,
  };
}

/**
 * Makes a repository a mirror, or changes one. The address is tried before anything is kept.
 * Refuses `mirror_address_refused`, `invalid_mirror`, `repository_not_empty` for a pull mirror of
 * one that has branches of its own.
 */
export async function saveMirror(
  room: MirrorRoom,
  viewer: Viewer,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
  input: MirrorInput,
): Promise<Mirror> {
  const { direction, url, username, intervalMs } = read(input);
  const { id } = repository;
  const before = await room.db.read.findOneBy(mirrorSchema, { repositoryId: id });
  const isSameHost = before !== null && new URL(before.url).origin === new URL(url).origin;
  const keepsSecret = !input.secret && isSameHost;
  if (direction === 'pull' && before?.direction !== 'pull' && (await room.git.refs(path)).size > 0) {
    throw conflict('repository_not_empty', 'This repository has branches of its own. Make a new one for the copy.');
  }
  // A secret that is kept was tried when it came; without it the other side would refuse.
  if (!keepsSecret || before.secretCiphertext === null || before.url !== url || before.username !== username) {
    await tryAddress(room, {
      url,
      username,
      secret: input.secret || (keepsSecret ? await openKept(room, before) : ''),
    });
  }
  const secretCiphertext = input.secret
    ? sealSecret(room, id, url, input.secret)
    : keepsSecret
      ? before.secretCiphertext
      : null;
  await room.db.write(async ({ manager, now }) => {
    const said = {
      direction,
      url,
      username,
      intervalMs,
      prune: input.prune,
      secretCiphertext,
      updatedAt: now,
      isPaused: false,
      failures: 0,
      lastError: null,
      nextAt: now,
    };
    if (before === null) {
      await manager.insert(mirrorSchema, {
        ...said,
        repositoryId: id,
        lastStartedAt: null,
        lastOkAt: null,
        lockedUntil: 0,
        createdAt: now,
      });
    } else await manager.update(mirrorSchema, { repositoryId: id }, said);
  });
  room.logger.info('mirror.saved', { repositoryId: id, direction, host: new URL(url).host, by: viewerForLog(viewer) });
  return (await findMirror(room, id))!;
}

async function openKept(room: MirrorRoom, row: MirrorRow): Promise<string> {
  return (await reachRemote(room, row)).secret;
}

/** Makes it due now. Refuses `no_mirror`. */
export async function askForSync({ db }: MirrorRoom, repositoryId: string): Promise<void> {
  const { affected } = await db.write(({ manager, now }) =>
    manager.update(mirrorSchema, { repositoryId }, { nextAt: now, isPaused: false }),
  );
  if (affected === 0) throw noMirror();
}

/** Refuses `no_mirror`. */
export async function setPaused(
  room: MirrorRoom,
  viewer: Viewer,
  repositoryId: string,
  isPaused: boolean,
): Promise<void> {
  const { affected } = await room.db.write(({ manager, now }) =>
    manager.update(
      mirrorSchema,
      { repositoryId },
      { isPaused, ...(isPaused ? {} : { failures: 0, nextAt: now }), updatedAt: now },
    ),
  );
  if (affected === 0) throw noMirror();
  room.logger.info(isPaused ? 'mirror.paused_by_hand' : 'mirror.resumed', { repositoryId, by: viewerForLog(viewer) });
}

/** The repository is one like any other from now on; all that came stays. Refuses `no_mirror`. */
export async function endMirror(
  room: MirrorRoom,
  viewer: Viewer,
  { repository: { id }, path }: Pick<Found, 'repository' | 'path'>,
): Promise<void> {
  const { affected } = await room.db.write(({ manager }) => manager.delete(mirrorSchema, { repositoryId: id }));
  if (affected === 0) throw noMirror();
  await forgetFetched(room.git, path);
  room.logger.info('mirror.ended', { repositoryId: id, by: viewerForLog(viewer) });
}

export interface ImportInput extends NewRepository {
  address: string;
  username?: string | undefined;
  secret?: string | undefined;
  /** Whether it goes on following the other side. */
  keepMirroring: boolean;
}

/**
 * Makes a repository of one elsewhere. It is there at once, and fills while its page shows how
 * far it is. Refuses as `createRepository` and `saveMirror` do; nothing is made then.
 */
export async function importRepository(
  room: MirrorRoom,
  viewer: Viewer,
  { address, username = '', secret = '', keepMirroring, ...repository }: ImportInput,
): Promise<Repository> {
  const { url } = read({ direction: 'pull', address, username, intervalMs: minIntervalMs, prune: true });
  await tryAddress(room, { url, username, secret });
  const made = await room.repositories.create(viewer, repository);
  await room.db.write(({ manager, now }) =>
    manager.insert(mirrorSchema, {
      repositoryId: made.id,
      direction: 'pull',
      url,
      username,
      secretCiphertext: secret === '' ? null : sealSecret(room, made.id, url, secret),
      intervalMs: keepMirroring ? 8 * 3_600_000 : null,
      prune: true,
      isPaused: false,
      failures: 0,
      lastError: null,
      lastStartedAt: null,
      lastOkAt: null,
      nextAt: now,
      lockedUntil: 0,
      createdAt: now,
      updatedAt: now,
    }),
  );
  room.logger.info('mirror.saved', {
    repositoryId: made.id,
    direction: 'pull',
    host: new URL(url).host,
    isImport: !keepMirroring,
    by: viewerForLog(viewer),
  });
  return made;
}

function read({ direction, address, username = '', intervalMs }: MirrorInput): {
  direction: MirrorDirection;
  url: string;
  username: string;
  intervalMs: number;
} {
  if (direction !== 'pull' && direction !== 'push')
    throw invalid('invalid_mirror', 'Choose a direction.', { field: 'direction' });
  const text = address.trim();
  const url = text.length > maxAddressLength ? null : URL.parse(text);
  if (url === null || url.search !== '' || url.hash !== '')
    throw invalid('invalid_mirror', 'This is not the address of a repository.', { field: 'address' });
  if (url.username !== '' || url.password !== '')
    throw invalid('invalid_mirror', 'Give the user name and the password in their own fields.', { field: 'address' });
  if (/[\x00-\x1f\x7f:]/.test(username) || username.length > 200)
    throw invalid('invalid_mirror', 'This is not a user name.', { field: 'username' });
  if (!Number.isFinite(intervalMs) || intervalMs < minIntervalMs || intervalMs > maxIntervalMs) {
    throw invalid('invalid_mirror', 'An interval is from five minutes to thirty days.', { field: 'interval' });
  }
  return { direction, url: url.href, username: username.trim(), intervalMs };
}

/** Keeps people from pushing to a copy: the next sync would take their commits away. */
export const guardCopies: PushGuard = async ({ before }, repository) => {
  const row = await before.findOneBy(mirrorSchema, { repositoryId: repository.id, direction: 'pull' });
  if (row === null) return null;
  return row.intervalMs === null
    ? 'this repository is still being imported'
    : `this repository is a copy of ${row.url}; push there`;
};

/** Hears of pushes: who follows us is brought up to date soon. */
export function hearPushes({ db }: MirrorRoom, wake: () => void): PushListener<FindOptionsWhere<MirrorRow>> {
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
