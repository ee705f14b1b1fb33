import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { findAgain, findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { refuseCopy } from './refuse-copy.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

/**
 * Archives a repository (read-only), or unarchives it; idempotent. Settings can still be changed; pushes are rejected
 * with the reason. Throws `repository_not_found` for everyone but the owner; `repository_is_copy`.
 */
export async function setArchived(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  archived: boolean,
): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'owner')).repository;
  const changed = await deps.db.write(async (tx) => {
    const row = await findAgain(deps, tx, viewer, repositoryId, 'owner');
    if ((row.archivedAt !== null) === archived) return false;
    refuseCopy(row);
    await tx.manager.update(
      repositorySchema,
      { id: repositoryId },
      { archivedAt: archived ? tx.now : null, updatedAt: tx.now },
    );
    return true;
  });
  if (!changed) return;
  deps.logger.info(archived ? 'repository.archived' : 'repository.unarchived', {
    repositoryId,
    by: viewerForLog(viewer),
  });
}
