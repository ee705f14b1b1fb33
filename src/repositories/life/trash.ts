import path from 'node:path';
import { IsNull, LessThan, Not } from 'typeorm';
import { isLocalAdministrator, repositoryLevel } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { conflict } from '../../kernel/index.ts';
import { findRepository, repositoryFacts, repositoryNotFound } from '../find-repository.ts';
import { isNameTaken, nameTaken } from '../create-repository.ts';
import { ownerIdOf, withOwners } from '../list-repositories.ts';
import type { ListedRepository } from '../list-repositories.ts';
import type { RunningPushes } from '../pushes/running-pushes.ts';
import type { RepositoryRoom } from '../room.ts';
import { foldRepositoryName, parseRepositoryName } from '../repository-name.ts';
import { repositorySchema } from '../repository-schema.ts';
import type { Repository } from '../repository-schema.ts';

const trashPath = (room: RepositoryRoom, repositoryId: string) =>
  path.join(room.settings.trashDirectory, `${repositoryId}.git`);

/**
 * Deletes a repository: at once for everybody, for good after the trash has
 * kept it. Its name is free from now on.
 * Refuses `repository_not_found` to everyone who does not administer it
 * (SPEC §5: 404, not 403), `push_in_progress`.
 */
export async function moveToTrash(
  room: RepositoryRoom,
  running: RunningPushes,
  viewer: Viewer,
  at: { owner: string; name: string },
): Promise<Repository> {
  const found = await findRepository(room, viewer, at, 'admin');
  const { id } = found.repository;
  if (running.has(id)) throw conflict('push_in_progress', 'A push to this repository is running. Try again when it has ended.');
  const deletedBy = viewer.kind === 'person' && !isLocalAdministrator(viewer) ? viewer.id : null;
  const repository = await room.db.write(async ({ manager, now }) => {
    const result = await manager.update(repositorySchema, { id, deletedAt: IsNull() }, { deletedAt: now, deletedBy });
    if (result.affected !== 1) throw repositoryNotFound();
    return manager.findOneByOrFail(repositorySchema, { id });
  });
  // The row hides it; the move only tidies. Interrupted, `finishMoves` does it at the next start.
  await room.git.moveRepository(found.path, trashPath(room, id));
  room.logger.info('repository.deleted', { repositoryId: id, owner: found.canonical.owner, name: found.canonical.name });
  return repository;
}

/** What is in the trash, newest first. For the owner's settings and the command line. */
export async function listTrash(room: RepositoryRoom, ownerId?: string): Promise<ListedRepository[]> {
  const rows = await room.db.read.find(repositorySchema, {
    where:
      ownerId === undefined
        ? { deletedAt: Not(IsNull()) }
        : [
            { deletedAt: Not(IsNull()), ownerUserId: ownerId },
            { deletedAt: Not(IsNull()), ownerOrganisationId: ownerId },
          ],
    order: { deletedAt: 'DESC', id: 'ASC' },
  });
  return withOwners(room, rows);
}

/**
 * Takes a repository out of the trash; its owner or the command line may.
 * @param name another name, when the old one is in use again
 * Refuses `repository_not_found`, `repository_name_taken`.
 */
export async function restoreRepository(
  room: RepositoryRoom,
  viewer: Viewer,
  repositoryId: string,
  name?: string,
): Promise<Repository> {
  const row = await room.db.read.findOneBy(repositorySchema, { id: repositoryId });
  if (row === null || row.deletedAt === null || !(await mayRestore(room, viewer, row))) throw repositoryNotFound();
  const newName = name === undefined ? row.name : parseRepositoryName(name);
  const owner = (await room.owners.ownersById([ownerIdOf(row)])).get(ownerIdOf(row));
  if (owner === undefined) throw repositoryNotFound();

  const home = room.git.repositoryPath(ownerIdOf(row), row.id);
  await room.git.moveRepository(trashPath(room, row.id), home);
  try {
    return await room.db.write(async ({ manager, now }) => {
      const change = { deletedAt: null, deletedBy: null, name: newName, nameFolded: foldRepositoryName(newName), updatedAt: now };
      const result = await manager.update(repositorySchema, { id: row.id, deletedAt: Not(IsNull()) }, change);
      if (result.affected !== 1) throw repositoryNotFound();
      return manager.findOneByOrFail(repositorySchema, { id: row.id });
    });
  } catch (error) {
    await room.git.moveRepository(home, trashPath(room, row.id));
    throw isNameTaken(error) ? nameTaken(owner.handle, newName) : error;
  }
}

/** Removes for good what has been in the trash longer than it is kept. Answers how many. */
export async function emptyTrash(room: RepositoryRoom): Promise<number> {
  const rows = await room.db.read.findBy(repositorySchema, { deletedAt: LessThan(room.clock.now() - room.settings.trashKeptMs) });
  for (const row of rows) {
    await room.git.removeRepository(trashPath(room, row.id));
    await room.db.write(({ manager }) => manager.delete(repositorySchema, { id: row.id, deletedAt: Not(IsNull()) }));
    room.logger.info('repository.purged', { repositoryId: row.id });
  }
  return rows.length;
}

/** At start-up: folders follow what the rows say, where a move was cut short. */
export async function finishMoves(room: RepositoryRoom): Promise<void> {
  for (const row of await room.db.read.findBy(repositorySchema, { deletedAt: Not(IsNull()) })) {
    const home = room.git.repositoryPath(ownerIdOf(row), row.id);
    if (await room.git.repositoryExists(home)) await room.git.moveRepository(home, trashPath(room, row.id));
  }
}

/** The policy hides trashed rows from everybody; to get one back, ask it as if the row were not trashed. */
async function mayRestore(room: RepositoryRoom, viewer: Viewer, row: Repository): Promise<boolean> {
  const facts = await repositoryFacts({ read: room.db.read, organisations: room.organisations }, viewer, row);
  return repositoryLevel(viewer, { ...facts, deleted: false }) === 'admin';
}
