import { mayBecomePublic, viewerForLog } from '../../access/index.ts';
import type { Viewer, Visibility } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import { findAgain, findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { refuseCopy } from './refuse-copy.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

/**
 * Makes a repository public or private. Takes effect at the next read; remote followers get no message (SPEC §3).
 * Throws `repository_not_found` for everyone but the owner; `fork_of_private` for a fork whose source is private;
 * `repository_is_copy`. Forks stay unchanged: they belong to others, who had permission to copy it.
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
    if (visibility === 'PUBLIC' && !mayBecomePublic(await sourceOf(tx, row)))
      throw conflict(
        'fork_of_private',
        'This is a fork of a private repository. It cannot be made public while its source is private.',
        {
          field: 'visibility',
        },
      );
    if (row.visibility !== visibility) {
      refuseCopy(row);
      await tx.manager.update(repositorySchema, { id: repositoryId }, { visibility, updatedAt: tx.now });
    }
    return row.visibility;
  });
  if (before === visibility) return;
  deps.logger.info('repository.visibility_changed', { repositoryId, before, visibility, by: viewerForLog(viewer) });
}

/** The source of the fork, also from the trash. */
const sourceOf = async ({ manager }: Tx, { forkedFromId }: Repository): Promise<Repository | null> =>
  forkedFromId === null ? null : manager.findOneBy(repositorySchema, { id: forkedFromId });
