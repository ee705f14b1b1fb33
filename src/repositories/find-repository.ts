import { IsNull } from 'typeorm';
import type { FindOptionsWhere } from 'typeorm';
import { allows, ownsRepository, repositoryLevel } from '../access/index.ts';
import type { Level, RepositoryFacts, Viewer } from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import { notFound } from '../kernel/index.ts';
import type { Owner } from '../owners/index.ts';
import type { RepositoryDeps } from './deps.ts';
import { collaboratorSchema } from './schema/collaborator-schema.ts';
import { foldRepositoryName, isRepositoryName } from './repository-name.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';

/** `{owner}/{name}` as a request spells it. */
export interface RepositoryAddress {
  owner: string;
  name: string;
}

/** A repository that the viewer may at least read, and what ties them to it. */
export interface Found {
  repository: Repository;
  owner: Owner;
  /** What the viewer may do; never `none`. */
  level: Level;
  /** Whether the viewer is "the repository owner" of SPEC §4.3. */
  isOwner: boolean;
  /** How the path is spelled; a request may have used another case. */
  canonical: RepositoryAddress;
  /** The bare repository on disk. */
  path: string;
}

/** What an act asks of the viewer: a level, or to be "the repository owner" (SPEC §4.3). */
export type Needed = Level | 'owner';

/** The one way in words to say that a repository is absent or hidden. */
export const repositoryNotFound = () => notFound('repository_not_found', 'Repository not found');

type FindRoom = Pick<RepositoryDeps, 'db' | 'owners' | 'organisations' | 'git'>;

/**
 * Finds `{owner}/{name}`: the owner among people first, then organisations
 * (SPEC §4.4), the name in any case.
 * Refuses with `repository_not_found`, the same for absent, in the trash, and
 * not visible or not allowed enough to the viewer.
 */
export async function findRepository(
  deps: FindRoom,
  viewer: Viewer,
  at: RepositoryAddress,
  needed: Needed = 'read',
): Promise<Found> {
  if (!isRepositoryName(at.name)) throw repositoryNotFound();
  const owner = await deps.owners.resolve(at.owner);
  if (owner === null) throw repositoryNotFound();
  const own = owner.kind === 'user' ? { ownerUserId: owner.id } : { ownerOrganisationId: owner.id };
  const rows = await deps.db.lookup(repositorySchema, {
    ...own,
    nameFolded: foldRepositoryName(at.name),
    deletedAt: null,
  });
  // One in the trash counts as absent.
  const repository = rows[0];
  if (repository === undefined) throw repositoryNotFound();
  const { level, isOwner } = await judge(deps, deps.db.lookup, viewer, repository, needed);
  return {
    repository,
    owner,
    level,
    isOwner,
    canonical: { owner: owner.handle, name: repository.name },
    path: deps.git.repositoryPath(owner.id, repository.id),
  };
}

/**
 * The row again, inside the write that is about to change it, and the viewer's
 * right judged by what the write sees: either may have gone since it was found.
 * Refuses `repository_not_found`.
 */
export async function findAgain(
  deps: Pick<RepositoryDeps, 'organisations'>,
  { manager }: Tx,
  viewer: Viewer,
  repositoryId: string,
  needed: Needed,
): Promise<Repository> {
  const repository = await manager.findOneBy(repositorySchema, { id: repositoryId });
  if (repository === null) throw repositoryNotFound();
  await judge(deps, manager, viewer, repository, needed);
  return repository;
}

/** A repository by its id, for a write of another room that acts for the instance; null when it is gone or in the trash. */
export function repositoryOf({ manager }: Tx, repositoryId: string): Promise<Repository | null> {
  return manager.findOneBy(repositorySchema, { id: repositoryId, deletedAt: IsNull() });
}

/** Refuses `repository_not_found` unless the repository is live and the viewer may do what is needed. */
async function judge(
  deps: Pick<RepositoryDeps, 'organisations'>,
  source: RowSource,
  viewer: Viewer,
  repository: Repository,
  needed: Needed,
): Promise<{ level: Level; isOwner: boolean }> {
  // Also to the command line: only `restore` knows what is in the trash.
  if (repository.deletedAt !== null) throw repositoryNotFound();
  const facts = await repositoryFacts(deps, source, viewer.kind === 'person' ? viewer.id : null, repository);
  const level = repositoryLevel(viewer, facts);
  const isOwner = ownsRepository(viewer, facts);
  const enough = needed === 'owner' ? isOwner : level !== 'none' && allows(level, needed);
  if (!enough) throw repositoryNotFound();
  return { level, isOwner };
}

/**
 * Gathers for `access/` what ties a person, or nobody, to a repository.
 * @param source the lookups, or the manager of the write that decides by it
 */
export async function repositoryFacts(
  { organisations }: Pick<RepositoryDeps, 'organisations'>,
  source: RowSource,
  personId: string | null,
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
  if (personId === null) return facts;
  if (repository.ownerOrganisationId !== null) {
    facts.organisationRole = await organisations.roleOf(personId, repository.ownerOrganisationId, source);
  }
  const collaborator = await rowBy(source, collaboratorSchema, { repositoryId: repository.id, userId: personId });
  facts.collaboratorRole = collaborator?.role ?? null;
  return facts;
}

/** The condition on rows that belong to an owner. */
export function ownedBy({ kind, id }: Pick<Owner, 'kind' | 'id'>): FindOptionsWhere<Repository> {
  return kind === 'user' ? { ownerUserId: id } : { ownerOrganisationId: id };
}

/** UUID of the one owner (SPEC §2.2). */
export function ownerIdOf(repository: Pick<Repository, 'ownerUserId' | 'ownerOrganisationId'>): string {
  return (repository.ownerUserId ?? repository.ownerOrganisationId)!;
}
