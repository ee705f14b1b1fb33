import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { isNameTaken, nameTaken } from '../create-repository.ts';
import { findAgain, findRepository, ownerIdOf } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { foldRepositoryName, parseRepositoryName } from '../repository-name.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { endRedirect, addRedirectFrom } from '../redirects.ts';

/**
 * Renames a repository; the old path redirects until it is used again. A change of case alone is allowed. Files stay
 * where they are (SPEC §2.2). Throws `repository_not_found` for everyone but the owner; `invalid_repository_name`,
 * `repository_name_taken`.
 */
export async function renameRepository(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  newName: string,
): Promise<RepositoryAddress> {
  const { repository, owner } = await findRepository(deps, viewer, at, 'owner');
  const name = parseRepositoryName(newName);
  const nameFolded = foldRepositoryName(name);
  const { id } = repository;
  try {
    await deps.db.write(async (tx) => {
      const before = await findAgain(deps, tx, viewer, id, 'owner');
      if (before.nameFolded !== nameFolded) await addRedirectFrom(tx, before);
      await tx.manager.update(repositorySchema, { id }, { name, nameFolded, updatedAt: tx.now });
      await endRedirect(tx, ownerIdOf(before), nameFolded);
    });
  } catch (error) {
    throw isNameTaken(error) ? nameTaken(owner.handle, name) : error;
  }
  deps.logger.info('repository.renamed', { repositoryId: id, before: repository.name, name, by: viewerForLog(viewer) });
  return { owner: owner.handle, name };
}
