import { In, IsNull } from 'typeorm';
import { ownerIdOf } from '../find-repository.ts';
import { repositorySchema } from '../repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { moveIfThere } from './move-folder.ts';
import { moveSchema } from './transfer-schema.ts';
import { inTrash, trashedFolders, trashFolder } from './trash.ts';

/**
 * At start, before any door opens: folders follow what the rows say, where a move
 * to the trash, out of it or to another owner was cut short.
 */
export async function recoverFolders(room: RepositoryDeps): Promise<void> {
  await bringToTrash(room);
  await bringBack(room);
  await finishTransfers(room);
}

async function bringToTrash(room: RepositoryDeps): Promise<void> {
  for (const row of await room.db.read.findBy(repositorySchema, inTrash)) {
    await finish(room, row.id, room.git.repositoryPath(ownerIdOf(row), row.id), trashFolder(room, row.id));
  }
}

async function bringBack(room: RepositoryDeps): Promise<void> {
  const ids = await trashedFolders(room);
  for (let start = 0; start < ids.length; start += 500) {
    const some = { id: In(ids.slice(start, start + 500)), deletedAt: IsNull() };
    for (const row of await room.db.read.findBy(repositorySchema, some)) {
      await finish(room, row.id, trashFolder(room, row.id), room.git.repositoryPath(ownerIdOf(row), row.id));
    }
  }
}

async function finishTransfers(room: RepositoryDeps): Promise<void> {
  for (const { repositoryId, toOwnerId } of await room.db.read.find(moveSchema)) {
    const row = await room.db.read.findOneByOrFail(repositorySchema, { id: repositoryId });
    const home = room.git.repositoryPath(ownerIdOf(row), repositoryId);
    await finish(room, repositoryId, room.git.repositoryPath(toOwnerId, repositoryId), home);
    await room.db.write(({ manager }) => manager.delete(moveSchema, { repositoryId }));
  }
}

async function finish(room: RepositoryDeps, repositoryId: string, from: string, to: string): Promise<void> {
  if (await moveIfThere(room, from, to)) room.logger.warn('repository.move_finished', { repositoryId });
}
