import { isNotNull } from '../../db/index.ts';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { In, IsNull, LessThan, MoreThan } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { ownsRepository, personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Owner } from '../../owners/index.ts';
import { notifyLifecycle } from '../notify-lifecycle.ts';
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
import { removeUnfinishedForks } from './remove-unfinished-forks.ts';
import { endRedirect } from '../redirects.ts';
import { moveIfThere } from './move-folder.ts';
import { transferSchema } from '../schema/transfer-schema.ts';

const dayMs = 86_400_000;

/** Folder of a repository: its owner's, or in the trash. */
export function folderOf(deps: RepositoryDeps, row: Repository): string {
  return row.deletedAt === null ? deps.git.storage.pathOf(ownerIdOf(row), row.id) : trashFolder(deps, row.id);
}

export function trashFolder(deps: RepositoryDeps, repositoryId: string): string {
  return path.join(deps.settings.trashDirectory, `${repositoryId}.git`);
}

/**
 * Moves a repository and its image to the trash: hides it at once, frees its name, and deletes it permanently after the
 * retention time (SPEC §3). Throws `repository_not_found` for everyone but the owner (SPEC §5: 404, not 403),
 * `push_in_progress`.
 */
export async function moveToTrash(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Repository> {
  const found = await findRepository(deps, viewer, at, 'owner');
  const { id } = found.repository;
  const deletedBy = personIdOf(viewer);
  const repository = await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, id, 'owner');
    await refuseDuringPush(tx, id);
    await tx.manager.update(repositorySchema, { id }, { deletedAt: tx.now, deletedBy });
    await tx.manager.delete(transferSchema, { repositoryId: id });
    const moved = await tx.manager.findOneByOrFail(repositorySchema, { id });
    await notifyLifecycle(deps, tx, { action: 'deleted', repository: moved, owner: found.owner, byId: deletedBy });
    return moved;
  });
  // The row hides it; the moves only clean up. Failed ones are repeated at the next start.
  try {
    await deps.git.storage.move(found.path, trashFolder(deps, id));
    await deps.images.moveTo(deps.trashedImages, id);
  } catch (error) {
    deps.logger.error('repository.move_failed', { repositoryId: id, error });
  }
  const { owner, name } = found.canonical;
  deps.logger.info('repository.deleted', { repositoryId: id, owner, name, by: viewerForLog(viewer) });
  return repository;
}

/** Repositories in the trash, newest first: of one owner, or all for the command line. */
export async function listTrash(deps: RepositoryDeps, owner?: Pick<Owner, 'kind' | 'id'>): Promise<ListedRepository[]> {
  return withOwners(
    deps,
    await deps.db.read.findBy(repositorySchema, { ...inTrash, ...(owner && ownedBy(owner)) }).then(newestFirst),
  );
}

/** A comparison, because the partial index does not serve a negation. */
export const inTrash = { deletedAt: MoreThan(0) };

/** Whether a repository is in the trash, as the given source sees it. */
export const isTrashed = (source: EntityManager, repositoryId: string): Promise<boolean> =>
  source.existsBy(repositorySchema, { id: repositoryId, ...inTrash });

const newestFirst = (rows: Repository[]): Repository[] =>
  rows.sort((a, b) => b.deletedAt! - a.deletedAt! || (a.id < b.id ? -1 : 1));

/**
 * Repositories that the viewer may restore: their own and those of organisations where they are OWNER. Newest first.
 */
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
 * Restores a repository and its image from the trash, for its owner and the command line. Awaits the listeners of
 * `onRestore`. Throws `repository_not_found`, `invalid_repository_name`, `repository_name_taken`.
 * @param name another name, if the old one is in use again
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

  const home = deps.git.storage.pathOf(owner.id, row.id);
  // After an interrupted deletion the folder may never have left.
  await moveIfThere(deps, trashFolder(deps, row.id), home);
  let restored: Repository;
  try {
    restored = await deps.db.write(async (tx) => {
      const { manager, now } = tx;
      const change = { deletedAt: null, deletedBy: null, name: newName, nameFolded, updatedAt: now };
      const result = await manager.update(repositorySchema, { id: row.id, deletedAt: isNotNull() }, change);
      if (result.affected !== 1) throw repositoryNotFound();
      await endRedirect(tx, owner.id, nameFolded);
      for (const { record } of deps.restoreListeners) await record(tx, row.id);
      const repository = await manager.findOneByOrFail(repositorySchema, { id: row.id });
      await notifyLifecycle(deps, tx, { action: 'created', repository, owner, byId: personIdOf(viewer) });
      return repository;
    });
  } catch (error) {
    await moveIfThere(deps, home, trashFolder(deps, row.id));
    throw isNameTaken(error) ? nameTaken(owner.handle, newName) : error;
  }
  await deps.trashedImages.moveTo(deps.images, row.id);
  deps.logger.info('repository.restored', { repositoryId: row.id, name: newName, by: viewerForLog(viewer) });
  for (const { restored: follow } of deps.restoreListeners)
    await follow(row.id).catch((error: unknown) =>
      deps.logger.error('repository.restore_not_followed', { repositoryId: row.id, error }),
    );
  return restored;
}

/**
 * Permanently deletes repositories whose retention time in the trash is over. Returns how many.
 * @param ttlMs retention time in milliseconds; defaults to the settings
 */
export async function emptyTrash(deps: RepositoryDeps, ttlMs: number = deps.settings.trashTtlMs): Promise<number> {
  const before = deps.clock.now() - ttlMs;
  const rows = await deps.db.read.findBy(repositorySchema, { deletedAt: LessThan(before) });
  for (const row of rows) {
    const { id } = row;
    // The row is deleted last: after an interruption the next run finds it again.
    await removeTrashed(deps, row);
    await deps.db.write(({ manager }) => manager.delete(repositorySchema, { id, deletedAt: isNotNull() }));
    deps.logger.info('repository.purged', { repositoryId: id });
  }
  await removeOrphans(deps, before);
  // Left by a killed command; a server removes its own at start.
  await removeUnfinishedForks(deps, deps.clock.now() - dayMs);
  return rows.length;
}

/**
 * Removes a repository whose import failed, bypassing the retention time, because its data still exists at the source.
 * Never throws; if it cannot be removed now, it stays in the trash.
 */
export async function discardRepository(deps: RepositoryDeps, { id }: Pick<Repository, 'id'>): Promise<void> {
  try {
    const found = await deps.db.read.findOneBy(repositorySchema, { id });
    if (found === null) return;
    const owner = (await deps.owners.ownersById([ownerIdOf(found)])).get(ownerIdOf(found));
    const row = await deps.db.write(async (tx) => {
      const { manager, now } = tx;
      const { affected } = await manager.update(
        repositorySchema,
        { id, deletedAt: IsNull() },
        { deletedAt: now, deletedBy: null },
      );
      const repository = await manager.findOneBy(repositorySchema, { id });
      if (affected === 1 && repository !== null && owner !== undefined)
        await notifyLifecycle(deps, tx, { action: 'deleted', repository, owner, byId: null });
      return repository;
    });
    if (row === null) return;
    await removeTrashed(deps, row);
    await deps.db.write(({ manager }) => manager.delete(repositorySchema, { id, deletedAt: isNotNull() }));
    deps.logger.info('repository.import_discarded', { repositoryId: id });
  } catch (error) {
    deps.logger.error('repository.import_not_discarded', { repositoryId: id, error });
  }
}

/** Removes the folder and the image of a trashed repository, even if they were never moved to the trash. */
export async function removeTrashed(deps: RepositoryDeps, row: Repository): Promise<void> {
  await deps.git.storage.remove(deps.git.storage.pathOf(ownerIdOf(row), row.id));
  await deps.images.remove(row.id, async () => {});
  await removeFromTrash(deps, row.id);
}

async function removeFromTrash(deps: RepositoryDeps, repositoryId: string): Promise<void> {
  await deps.git.storage.remove(trashFolder(deps, repositoryId));
  await deps.trashedImages.remove(repositoryId, async () => {});
}

/** Folders in the trash without a row: their organisation was deleted and the cleanup interrupted. */
async function removeOrphans(deps: RepositoryDeps, before: number): Promise<void> {
  const ids = await trashedFolders(deps);
  for (const id of ids) {
    if (await deps.db.read.existsBy(repositorySchema, { id })) continue;
    const found = await stat(trashFolder(deps, id)).catch(() => null);
    // A rename sets ctime, so it is the time of the move to the trash.
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

/** The policy hides trashed rows from everyone; a restore evaluates it as if the row were not trashed. */
async function mayRestore(deps: RepositoryDeps, viewer: Viewer, row: Repository): Promise<boolean> {
  const facts = await repositoryFacts(deps, deps.db.lookup, viewer.kind === 'person' ? viewer.id : null, row);
  return ownsRepository(viewer, { ...facts, deleted: false });
}
