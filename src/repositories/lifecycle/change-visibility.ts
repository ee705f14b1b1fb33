import { viewerForLog } from '../../access/index.ts';
import type { Viewer, Visibility } from '../../access/index.ts';
import { findAgain, findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

/**
 * Makes a repository public or private. Takes effect at the next read; nothing is sent to remote followers (SPEC §3).
 * Refuses `repository_not_found` to everyone but the owner.
 */
export async function changeVisibility(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  visibility: Visibility,
): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'owner')).repository;
  const before = await deps.db.write(async (tx) => {
    const row = await findAgain(deps, tx, viewer, repositoryId, 'owner');
    if (row.visibility !== visibility) {
      await tx.manager.update(repositorySchema, { id: repositoryId }, { visibility, updatedAt: tx.now });
    }
    return row.visibility;
  });
  if (before === visibility) return;
  deps.logger.info('repository.visibility_changed', { repositoryId, before, visibility, by: viewerForLog(viewer) });
}
