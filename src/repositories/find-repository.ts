import type { EntityManager } from 'typeorm';
import { allows, repositoryLevel } from '../access/index.ts';
import type { Level, RepositoryFacts, Viewer } from '../access/index.ts';
import { notFound } from '../kernel/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owner } from '../owners/index.ts';
import type { RepositoryRoom } from './room.ts';
import { collaboratorSchema } from './collaborators/collaborator-schema.ts';
import { foldRepositoryName, isRepositoryName } from './repository-name.ts';
import { repositorySchema } from './repository-schema.ts';
import type { Repository } from './repository-schema.ts';

/** A repository that the viewer may at least read, and what ties them to it. */
export interface Found {
  repository: Repository;
  owner: Owner;
  /** What the viewer may do; never `none`. */
  level: Level;
  /** How the path is spelled; a request may have used another case. */
  canonical: { owner: string; name: string };
  /** The bare repository on disk. */
  path: string;
}

/** The one way in words to say that a repository is absent or hidden. */
export const repositoryNotFound = () => notFound('repository_not_found', 'Repository not found');

/**
 * Finds `{owner}/{name}`: the owner among people first, then organisations
 * (SPEC §4.4), the name in any case.
 * Refuses with `repository_not_found`, the same for absent, in the trash, and
 * not visible or not allowed enough to the viewer.
 */
export async function findRepository(
  room: Pick<RepositoryRoom, 'db' | 'owners' | 'organisations' | 'git'>,
  viewer: Viewer,
  path: { owner: string; name: string },
  needed: Level = 'read',
): Promise<Found> {
  if (!isRepositoryName(path.name)) throw repositoryNotFound();
  const owner = await room.owners.resolve(path.owner);
  if (owner === null) throw repositoryNotFound();
  const repository = await room.db.read.findOne(repositorySchema, {
    where: {
      ...(owner.kind === 'user' ? { ownerUserId: owner.id } : { ownerOrganisationId: owner.id }),
      nameFolded: foldRepositoryName(path.name),
    },
    // A trashed row keeps its name until it goes; the live one counts.
    order: { deletedAt: { direction: 'ASC', nulls: 'FIRST' } },
  });
  if (repository === null || repository.deletedAt !== null) throw repositoryNotFound();
  const level = repositoryLevel(viewer, await repositoryFacts({ read: room.db.read, organisations: room.organisations }, viewer, repository));
  if (level === 'none' || !allows(level, needed)) throw repositoryNotFound();
  return {
    repository,
    owner,
    level,
    canonical: { owner: owner.handle, name: repository.name },
    path: room.git.repositoryPath(owner.id, repository.id),
  };
}

/** Gathers for `access/` what ties the viewer to a repository. */
export async function repositoryFacts(
  { read, organisations }: { read: EntityManager; organisations: Organisations },
  viewer: Viewer,
  repository: Repository,
): Promise<RepositoryFacts> {
  const facts: RepositoryFacts = {
    id: repository.id,
    visibility: repository.visibility,
    ownerUserId: repository.ownerUserId,
    ownerOrganisationId: repository.ownerOrganisationId,
    organisationRole: null,
    collaboratorRole: null,
    deleted: repository.deletedAt !== null,
  };
  if (viewer.kind === 'anonymous') return facts;
  if (repository.ownerOrganisationId !== null) {
    facts.organisationRole = await organisations.roleOf(viewer.id, repository.ownerOrganisationId, read);
  }
  const collaborator = await read.findOneBy(collaboratorSchema, { repositoryId: repository.id, userId: viewer.id });
  facts.collaboratorRole = collaborator?.role ?? null;
  return facts;
}
