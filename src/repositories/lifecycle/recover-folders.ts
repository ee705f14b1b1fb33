import { isAlone } from '../../nodes/index.ts';
import { In, IsNull } from 'typeorm';
import { ownerIdOf } from '../find-repository.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { moveIfThere } from './move-folder.ts';
import { moveSchema } from '../schema/transfer-schema.ts';
import { inTrash, trashedFolders, trashFolder } from './trash.ts';

/**
 * At start, before any listener opens: moves folders to where the rows say, after an interrupted move to the trash,
 * out of it or to another owner.
 */
export async function recoverFolders(deps: RepositoryDeps): Promise<void> {
  await finishMovesToTrash(deps);
  await finishRestores(deps);
  await finishTransfers(deps);
}

async function finishMovesToTrash(deps: RepositoryDeps): Promise<void> {
  for (const row of await deps.db.read.findBy(repositorySchema, inTrash)) {
    await finish(deps, row.id, deps.git.storage.pathOf(ownerIdOf(row), row.id), trashFolder(deps, row.id));
  }
}

async function finishRestores(deps: RepositoryDeps): Promise<void> {
  const ids = await trashedFolders(deps);
  for (let start = 0; start < ids.length; start += 500) {
    const some = { id: In(ids.slice(start, start + 500)), deletedAt: IsNull() };
    for (const row of await deps.db.read.findBy(repositorySchema, some)) {
      await finish(deps, row.id, trashFolder(deps, row.id), deps.git.storage.pathOf(ownerIdOf(row), row.id));
    }
  }
}

async function finishTransfers(deps: RepositoryDeps): Promise<void> {
  for (const { repositoryId, toOwnerId } of await unfinishedMoves(deps)) {
    const row = await deps.db.read.findOneByOrFail(repositorySchema, { id: repositoryId });
    const home = deps.git.storage.pathOf(ownerIdOf(row), repositoryId);
    await finish(deps, repositoryId, deps.git.storage.pathOf(toOwnerId, repositoryId), home);
    await deps.db.write(({ manager }) => manager.delete(moveSchema, { repositoryId }));
  }
}

/** With other nodes, one of the interrupted moves may still be running there. */
const unfinishedMoves = ({ db }: RepositoryDeps) =>
  db.read.createQueryBuilder(moveSchema, 'm').where(isAlone(db)).getMany();

async function finish(deps: RepositoryDeps, repositoryId: string, from: string, to: string): Promise<void> {
  if (await moveIfThere(deps, from, to)) deps.logger.warn('repository.move_finished', { repositoryId });
}
