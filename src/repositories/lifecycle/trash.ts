import { isNotNull } from '../../db/index.ts';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { In, LessThan, MoreThan } from 'typeorm';
import { isLocalAdministrator, ownsRepository, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Owner } from '../../owners/index.ts';
import { isNameTaken, nameTaken } from '../create-repository.ts';
import {
  findAgain,
  findRepository,
  ownedBy,
  ownerIdOf,
  repositoryFacts,
  repositoryNotFound,
} from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { withOwners } from '../list-repositories.ts';
import type { ListedRepository } from '../list-repositories.ts';
import { refuseDuringPush } from './refuse-during-push.ts';
import { foldRepositoryName, parseRepositoryName } from '../repository-name.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { endRedirect } from './find-redirect.ts';
import { moveIfThere } from './move-folder.ts';
import { transferSchema } from '../schema/transfer-schema.ts';

/** Where the folder of a repository is: at its owner's, or in the trash. */
export function folderOf(deps: RepositoryDeps, row: Repository): string {
  return row.deletedAt === null ? deps.git.repositoryPath(ownerIdOf(row), row.id) : trashFolder(deps, row.id);
}

export function trashFolder(deps: RepositoryDeps, repositoryId: string): string {
  return path.join(deps.settings.trashDirectory, `${repositoryId}.git`);
}

/**
 * Deletes a repository: at once for everybody, for good after the trash has
 * kept it. Its name is free from now on; its image leaves the images' folder
 * with it (SPEC §3).
 * Refuses `repository_not_found` to everyone but the owner (SPEC §5: 404, not
 * 403), `push_in_progress`.
 */
export async function moveToTrash(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Repository> {
  const found = await findRepository(deps, viewer, at, 'owner');
  const { id } = found.repository;
  const deletedBy = viewer.kind === 'person' && !isLocalAdministrator(viewer) ? viewer.id : null;
  const repository = await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, id, 'owner');
    await refuseDuringPush(tx, id);
    await tx.manager.update(repositorySchema, { id }, { deletedAt: tx.now, deletedBy });
    await tx.manager.delete(transferSchema, { repositoryId: id });
    return tx.manager.findOneByOrFail(repositorySchema, { id });
  });
  // The row hides it; the moves only tidy. Cut short or failed, they are done at the next start.
  try {
    await deps.git.moveRepository(found.path, trashFolder(deps, id));
    await deps.images.moveTo(deps.trashedImages, id);
  } catch (error) {
    deps.logger.error('repository.move_failed', { repositoryId: id, error });
  }
  const { owner, name } = found.canonical;
  deps.logger.info('repository.deleted', { repositoryId: id, owner, name, by: viewerForLog(viewer) });
  return repository;
}

/** What is in the trash, newest first: of one owner, or everybody's for the command line. */
export async function listTrash(deps: RepositoryDeps, owner?: Pick<Owner, 'kind' | 'id'>): Promise<ListedRepository[]> {
  return withOwners(
    deps,
    await deps.db.read.findBy(repositorySchema, { ...inTrash, ...(owner && ownedBy(owner)) }).then(newestFirst),
  );
}

/** As a comparison with a time, because an index of what is in the trash serves no negation. */
export const inTrash = { deletedAt: MoreThan(0) };

const newestFirst = (rows: Repository[]): Repository[] =>
  rows.sort((a, b) => b.deletedAt! - a.deletedAt! || (a.id < b.id ? -1 : 1));

/** What the viewer could take out of the trash: their own and, as OWNER, their organisations'. Newest first. */
export async function listRestorable(deps: RepositoryDeps, viewer: Viewer): Promise<ListedRepository[]> {
  if (viewer.kind !== 'person') return [];
  const organisations = await deps.organisations.organisationsOf(viewer.id);
  const owned = organisations.filter(({ role }) => role === 'OWNER').map(({ organisation }) => organisation.id);
  const [own, ofOrganisations] = await Promise.all([
    deps.db.read.findBy(repositorySchema, { ...inTrash, ownerUserId: viewer.id }),
    owned.length === 0 ? [] : deps.db.read.findBy(repositorySchema, { ...inTrash, ownerOrganisationId: In(owned) }),
  ]);
  return withOwners(deps, newestFirst([...own, ...ofOrganisations]));
}

/**
 * Takes a repository out of the trash, with its image; its owner or the command line may.
 * @param name another name, when the old one is in use again
 * Refuses `repository_not_found`, `invalid_repository_name`, `repository_name_taken`.
 */
export async function restoreRepository(
  deps: RepositoryDeps,
  viewer: Viewer,
  repositoryId: string,
  name?: string,
): Promise<Repository> {
  const row = await deps.db.read.findOneBy(repositorySchema, { id: repositoryId });
  if (row === null || row.deletedAt === null || !(await mayRestore(deps, viewer, row))) throw repositoryNotFound();
  const newName = name === undefined ? row.name : parseRepositoryName(name);
  const nameFolded = foldRepositoryName(newName);
  const owner = (await deps.owners.ownersById([ownerIdOf(row)])).get(ownerIdOf(row));
  if (owner === undefined) throw repositoryNotFound();

  const home = deps.git.repositoryPath(owner.id, row.id);
  // Where deleting was cut short the folder never left.
  await moveIfThere(deps, trashFolder(deps, row.id), home);
  let restored: Repository;
  try {
    restored = await deps.db.write(async (tx) => {
      const { manager, now } = tx;
      const change = { deletedAt: null, deletedBy: null, name: newName, nameFolded, updatedAt: now };
      const result = await manager.update(repositorySchema, { id: row.id, deletedAt: isNotNull() }, change);
      if (result.affected !== 1) throw repositoryNotFound();
      await endRedirect(tx, owner.id, nameFolded);
      return manager.findOneByOrFail(repositorySchema, { id: row.id });
    });
  } catch (error) {
    await moveIfThere(deps, home, trashFolder(deps, row.id));
    throw isNameTaken(error) ? nameTaken(owner.handle, newName) : error;
  }
  await deps.trashedImages.moveTo(deps.images, row.id);
  deps.logger.info('repository.restored', { repositoryId: row.id, name: newName, by: viewerForLog(viewer) });
  return restored;
}

/**
 * Removes for good what has been in the trash for so long. Answers how many repositories.
 * @param keptMs how long they may stay, in milliseconds; as the settings say when left out
 */
export async function emptyTrash(deps: RepositoryDeps, keptMs: number = deps.settings.trashKeptMs): Promise<number> {
  const before = deps.clock.now() - keptMs;
  const rows = await deps.db.read.findBy(repositorySchema, { deletedAt: LessThan(before) });
  for (const row of rows) {
    const { id } = row;
    // The row goes last: cut short, the next round finds it again.
    await removeTrashed(deps, row);
    await deps.db.write(({ manager }) => manager.delete(repositorySchema, { id, deletedAt: isNotNull() }));
    deps.logger.info('repository.purged', { repositoryId: id });
  }
  await removeOrphans(deps, before);
  return rows.length;
}

/** Removes the folder and the image of a trashed repository, also where they never got to the trash. */
export async function removeTrashed(deps: RepositoryDeps, row: Repository): Promise<void> {
  await deps.git.removeRepository(deps.git.repositoryPath(ownerIdOf(row), row.id));
  await deps.images.remove(row.id, async () => {});
  await removeFromTrash(deps, row.id);
}

async function removeFromTrash(deps: RepositoryDeps, repositoryId: string): Promise<void> {
  await deps.git.removeRepository(trashFolder(deps, repositoryId));
  await deps.trashedImages.remove(repositoryId, async () => {});
}

/** Folders in the trash that no row knows: their organisation was deleted and the tidying cut short. */
async function removeOrphans(deps: RepositoryDeps, before: number): Promise<void> {
  const ids = await trashedFolders(deps);
  for (const id of ids) {
    if (await deps.db.read.existsBy(repositorySchema, { id })) continue;
    const found = await stat(trashFolder(deps, id)).catch(() => null);
    // A rename sets the time of the last change: since then it is in the trash.
    if (found === null || found.ctimeMs >= before) continue;
    await removeFromTrash(deps, id);
    deps.logger.info('repository.purged', { repositoryId: id });
  }
}

/** Ids of the repositories whose folders are in the trash. */
export async function trashedFolders({ settings }: RepositoryDeps): Promise<string[]> {
  const names = await readdir(settings.trashDirectory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.flatMap((name) => /^([0-9a-f-]{36})\.git$/.exec(name)?.[1] ?? []);
}

/** The policy hides trashed rows from everybody; to get one back, ask it as if the row were not trashed. */
async function mayRestore(deps: RepositoryDeps, viewer: Viewer, row: Repository): Promise<boolean> {
  const facts = await repositoryFacts(deps, deps.db.lookup, viewer.kind === 'person' ? viewer.id : null, row);
  return ownsRepository(viewer, { ...facts, deleted: false });
}
