import { collaboratorRoles, scopeAllows, viewerForLog } from '../../access/index.ts';
import type { CollaboratorRole, Viewer } from '../../access/index.ts';
import { conflict, forbidden, invalid, notFound } from '../../kernel/index.ts';
import { announceAccess, personToAdd } from '../../organisations/index.ts';
import { findAgain, findRepository, repositoryNotFound } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import type { RepositoryDeps } from '../deps.ts';
import { collaboratorSchema } from '../schema/collaborator-schema.ts';

/** Parses a role, ignoring case. Throws `invalid_role`. */
function parseCollaboratorRole(text: string): CollaboratorRole {
  const role = collaboratorRoles.find((known) => known === text.trim().toLowerCase());
  if (role === undefined)
    throw invalid('invalid_role', 'Choose one of the roles read, write and admin.', { field: 'role' });
  return role;
}

/**
 * Adds a collaborator. Throws `repository_not_found` unless the viewer administers the repository; `invalid_role`;
 * `no_such_person`, also for users without a handle; `person_disabled`; `person_is_owner`; `already_collaborator`.
 */
export async function addCollaborator(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  input: { username: string; role: string },
): Promise<void> {
  const { repository, canonical } = await findRepository(deps, viewer, at, 'admin');
  const repositoryId = repository.id;
  const role = parseCollaboratorRole(input.role);
  const { id: userId, username } = await personToAdd(deps, input.username);
  await deps.db.write(async (tx) => {
    const row = await findAgain(deps, tx, viewer, repositoryId, 'admin');
    if (row.ownerUserId === userId) {
      throw invalid('person_is_owner', `${username} owns this repository and already has all permissions.`, {
        field: 'username',
      });
    }
    if (await tx.manager.existsBy(collaboratorSchema, { repositoryId, userId })) {
      throw conflict('already_collaborator', `${username} is already a collaborator.`, { field: 'username' });
    }
    await tx.manager.insert(collaboratorSchema, { repositoryId, userId, role, createdAt: tx.now });
    const place = { kind: 'repository' as const, id: repositoryId, ...canonical };
    await announceAccess(deps, tx, viewer, { userId, place, role });
  });
  deps.logger.info('repository.collaborator_added', { repositoryId, userId, role, by: viewerForLog(viewer) });
}

/**
 * Changes the role of a collaborator. Throws `repository_not_found` unless the viewer administers the repository;
 * `invalid_role`; `collaborator_not_found`.
 */
export async function changeCollaboratorRole(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  change: { username: string; role: string },
): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'admin')).repository;
  const role = parseCollaboratorRole(change.role);
  const userId = await collaboratorId(deps, change.username);
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repositoryId, 'admin');
    const { affected } = await tx.manager.update(collaboratorSchema, { repositoryId, userId }, { role });
    if (affected !== 1) throw collaboratorNotFound();
  });
  deps.logger.info('repository.collaborator_changed', { repositoryId, userId, role, by: viewerForLog(viewer) });
}

/**
 * Removes a collaborator. Throws `repository_not_found` unless the viewer administers the repository;
 * `collaborator_not_found`.
 */
export async function removeCollaborator(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  username: string,
): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'admin')).repository;
  const userId = await collaboratorId(deps, username);
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repositoryId, 'admin');
    const { affected } = await tx.manager.delete(collaboratorSchema, { repositoryId, userId });
    if (affected !== 1) throw collaboratorNotFound();
  });
  deps.logger.info('repository.collaborator_removed', { repositoryId, userId, by: viewerForLog(viewer) });
}

/**
 * Ends the viewer's own collaboration. Throws `repository_not_found` unless the viewer is a collaborator;
 * `insufficient_scope`.
 */
export async function leaveRepository(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at)).repository;
  if (viewer.kind !== 'person') throw repositoryNotFound();
  if (!scopeAllows(viewer, 'write')) throw forbidden('insufficient_scope', 'This token is read-only.');
  const userId = viewer.id;
  const { affected } = await deps.db.write(({ manager }) =>
    manager.delete(collaboratorSchema, { repositoryId, userId }),
  );
  if (affected !== 1) throw repositoryNotFound();
  deps.logger.info('repository.collaborator_left', { repositoryId, userId });
}

const collaboratorNotFound = () => notFound('collaborator_not_found', 'There is no such collaborator.');

async function collaboratorId(deps: RepositoryDeps, username: string): Promise<string> {
  const owner = await deps.owners.resolve(username);
  if (owner?.kind !== 'user') throw collaboratorNotFound();
  return owner.id;
}
