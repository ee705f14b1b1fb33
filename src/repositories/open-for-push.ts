import { allows } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { forbidden, isDomainError } from '../kernel/index.ts';
import { createRepository } from './create-repository.ts';
import { findRepository } from './find-repository.ts';
import type { Found, RepositoryAddress } from './find-repository.ts';
import { findRedirect } from './lifecycle/find-redirect.ts';
import type { RepositoryDeps } from './deps.ts';

/**
 * Finds a repository to push to, and creates it when push-to-create is on. Refuses `repository_not_found`;
 * `read_only_access` to people who may read but not write; `repository_archived`.
 */
export async function openForPush(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Found> {
  const found = await findOrCreate(deps, viewer, at);
  if (!allows(found.level, 'write'))
    throw forbidden('read_only_access', 'You may read this repository, but not push to it.');
  if (found.repository.archivedAt !== null) {
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  }
  return found;
}

async function findOrCreate(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Found> {
  try {
    return await findRepository(deps, viewer, at);
  } catch (error) {
    const absent = isDomainError(error) && error.code === 'not_found';
    if (!absent || !deps.settings.pushToCreate || viewer.kind !== 'person') throw error;
    // A push to an old path means the repository that was there.
    if ((await findRedirect(deps, viewer, at)) !== null) throw error;
    // The reason for a failed creation must not reveal a hidden repository.
    await createRepository(deps, viewer, { ...at, visibility: 'PRIVATE' }).catch((refusal: unknown) => {
      throw isDomainError(refusal) ? error : refusal;
    });
    return findRepository(deps, viewer, at);
  }
}
