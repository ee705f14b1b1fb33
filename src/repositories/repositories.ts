import { allows } from '../access/index.ts';
import type { Level, Viewer } from '../access/index.ts';
import { forbidden, isDomainError } from '../kernel/index.ts';
import { announcePush, unannouncedPushes } from './pushes/announce-push.ts';
import type { PushListener } from './pushes/announce-push.ts';
import { createRepository } from './create-repository.ts';
import type { NewRepository } from './create-repository.ts';
import { findRepository } from './find-repository.ts';
import type { Found } from './find-repository.ts';
import { listAllRepositories, listRepositories, ownerIdOf } from './list-repositories.ts';
import type { ListOptions } from './list-repositories.ts';
import { PushJournal } from './pushes/push-journal.ts';
import { receivePush } from './pushes/receive-push.ts';
import type { IncomingPush } from './pushes/receive-push.ts';
import { repositorySchema } from './repository-schema.ts';
import type { RepositoryRoom } from './room.ts';
import { RunningPushes } from './pushes/running-pushes.ts';
import { settleFromRefs } from './pushes/settle-from-refs.ts';
import { emptyTrash, finishMoves, listTrash, moveToTrash, restoreRepository } from './life/trash.ts';

type Path = { owner: string; name: string };

/** The front door of the room; the functions behind these names say what each refuses. */
export function createRepositories(room: RepositoryRoom) {
  const journal = new PushJournal(room.db, room.random);
  const running = new RunningPushes();
  const listeners: PushListener<never>[] = [];
  const announcements = new Set<Promise<void>>();

  const find = (viewer: Viewer, owner: string, name: string, needed: Level = 'read'): Promise<Found> =>
    findRepository(room, viewer, { owner, name }, needed);

  /** Runs beside the answer to the client: whatever happens here is not the pusher's trouble. */
  function announce(pushId: string): void {
    const announcement = announcePush(room, listeners as PushListener[], pushId)
      .catch((error: unknown) => room.logger.error('push.announce_failed', { pushId, error }))
      .finally(() => announcements.delete(announcement));
    announcements.add(announcement);
  }

  return {
    create: (viewer: Viewer, input: NewRepository) => createRepository(room, viewer, input),
    find,
    openForRead: (viewer: Viewer, owner: string, name: string) => find(viewer, owner, name),
    openForPush: (viewer: Viewer, owner: string, name: string) => openForPush(room, viewer, { owner, name }),
    list: (viewer: Viewer, options: ListOptions) => listRepositories(room, viewer, options),
    listAll: () => listAllRepositories(room),
    moveToTrash: (viewer: Viewer, owner: string, name: string) => moveToTrash(room, running, viewer, { owner, name }),
    restore: (viewer: Viewer, repositoryId: string, name?: string) => restoreRepository(room, viewer, repositoryId, name),
    listTrash: (ownerId?: string) => listTrash(room, ownerId),
    emptyTrash: () => emptyTrash(room),

    /** Plugs a listener in; before `recover`, so that it hears what was left over. */
    onPush<Prepared>(listener: PushListener<Prepared>): void {
      listeners.push(listener as PushListener<never>);
    },

    async receivePush(opened: Found, incoming: IncomingPush): Promise<void> {
      const { id } = opened.repository;
      await running.during(id, async () => {
        const pushId = await receivePush(room, journal, opened, incoming);
        if (pushId === null) return;
        if (opened.repository.pushedAt === null) await followFirstBranch(room, opened);
        announce(pushId);
      });
    },

    /**
     * At start-up, before any door opens: ends what a previous run left running,
     * removes its locks, settles and announces its pushes.
     */
    async recover(): Promise<void> {
      await room.git.endStrayProcesses();
      await finishMoves(room);
      for (const push of await journal.unsettled()) {
        const repository = await room.db.read.findOneByOrFail(repositorySchema, { id: push.repositoryId });
        const path = room.git.repositoryPath(ownerIdOf(repository), repository.id);
        await room.git.recover(path);
        const results = await settleFromRefs(journal, push, await room.git.refs(path));
        room.logger.info('push.settled_at_start', { pushId: push.id, accepted: results.filter(({ ok }) => ok).length });
      }
      for (const push of await unannouncedPushes(room)) await announcePush(room, listeners as PushListener[], push.id);
    },

    /** Waits for announcements under way. */
    async stop(): Promise<void> {
      await Promise.all(announcements);
    },
  };
}

export type Repositories = ReturnType<typeof createRepositories>;

/**
 * Finds a repository to push to, and makes it when that is switched on.
 * Refuses `repository_not_found`; `read_only_access` to somebody who may read but not
 * write; `repository_archived`.
 */
async function openForPush(room: RepositoryRoom, viewer: Viewer, path: Path): Promise<Found> {
  const found = await findOrCreate(room, viewer, path);
  if (!allows(found.level, 'write')) throw forbidden('read_only_access', 'You may read this repository, but not push to it.');
  if (found.repository.archivedAt !== null) {
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  }
  return found;
}

async function findOrCreate(room: RepositoryRoom, viewer: Viewer, path: Path): Promise<Found> {
  try {
    return await findRepository(room, viewer, path);
  } catch (error) {
    const absent = isDomainError(error) && error.code === 'not_found';
    if (!absent || !room.settings.pushToCreate || viewer.kind === 'anonymous') throw error;
    // Whatever stands in the way of making it must not tell that it exists hidden.
    await createRepository(room, viewer, { owner: path.owner, name: path.name, visibility: 'PRIVATE' }).catch(() => {
      throw error;
    });
    return findRepository(room, viewer, path);
  }
}

/** A first push to `master` must not leave the page of `main` empty: the default follows what came. */
async function followFirstBranch(room: RepositoryRoom, opened: Found): Promise<void> {
  const head = await room.git.head(opened.path);
  if (head.oid !== null) return;
  const branches = [...(await room.git.refs(opened.path)).keys()].filter((ref) => ref.startsWith('refs/heads/')).sort();
  const first = branches[0]?.slice('refs/heads/'.length);
  if (first === undefined) return;
  await room.git.setHead(opened.path, first);
  await room.db.write(({ manager }) => manager.update(repositorySchema, { id: opened.repository.id }, { defaultBranch: first }));
}
