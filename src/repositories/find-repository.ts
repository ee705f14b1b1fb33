import { IsNull } from 'typeorm';
import type { FindOptionsWhere } from 'typeorm';
import { allows, ownsRepository, repositoryLevel } from '../access/index.ts';
import type { CollaboratorRole, Level, RepositoryFacts, Viewer } from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import { notFound } from '../kernel/index.ts';
import type { Owner } from '../owners/index.ts';
import type { RepositoryDeps } from './deps.ts';
import { teamGrantSchema } from './schema/team-repository-schema.ts';
import { collaboratorSchema } from './schema/collaborator-schema.ts';
import { foldRepositoryName, isRepositoryName } from './repository-name.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';

/** `{owner}/{name}` as spelled in the request. */
export interface RepositoryAddress {
  owner: string;
  name: string;
}

/** A repository that the viewer can at least read, with the viewer's access. */
export interface Found {
  repository: Repository;
  owner: Owner;
  /** The viewer's level; never `none`. */
  level: Level;
  /** Whether the viewer is "the repository owner" of SPEC §4.3. */
  isOwner: boolean;
  /** The canonical spelling of the path; the case in the request may differ. */
  canonical: RepositoryAddress;
  /** The bare repository on disk. */
  path: string;
}

/** The access that an act requires: a level, or "the repository owner" (SPEC §4.3). */
export type Needed = Level | 'owner';

/** The same message whether a repository is absent or hidden. */
export const repositoryNotFound = () => notFound('repository_not_found', 'Repository not found');

type FindDeps = Pick<RepositoryDeps, 'db' | 'owners' | 'organisations' | 'git'>;

/**
 * Finds `{owner}/{name}`: first among users, then organisations (SPEC §4.4), ignoring the case of the name. Throws the
 * same `repository_not_found` for absent, trashed and hidden repositories and for insufficient access.
 */
export async function findRepository(
  deps: FindDeps,
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
  // A repository in the trash counts as absent.
  const repository = rows[0];
  if (repository === undefined) throw repositoryNotFound();
  const { level, isOwner } = await checkAccess(deps, deps.db.lookup, viewer, repository, needed);
  return {
    repository,
    owner,
    level,
    isOwner,
    canonical: { owner: owner.handle, name: repository.name },
    path: deps.git.storage.pathOf(owner.id, repository.id),
  };
}

/**
 * Reads the row again inside the transaction that changes it, and checks the viewer's access there: both may have
 * changed since it was found. Throws `repository_not_found`.
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
  await checkAccess(deps, manager, viewer, repository, needed);
  return repository;
}

/**
 * A repository by its id, for writes of other modules on behalf of the instance; null if it is deleted or in the trash.
 */
export function repositoryOf({ manager }: Tx, repositoryId: string): Promise<Repository | null> {
  return manager.findOneBy(repositorySchema, { id: repositoryId, deletedAt: IsNull() });
}

/** A repository by its id, also from the trash: for modules whose permissions depend on it. No access check. */
export const repositoryById = (source: RowSource, id: string): Promise<Repository | null> =>
  rowBy(source, repositorySchema, { id });

/** An owner's repository by name, ignoring case, outside the trash; null if there is none. No access check. */
export async function repositoryOfName(
  source: RowSource,
  { kind, id }: Pick<Owner, 'kind' | 'id'>,
  name: string,
): Promise<Repository | null> {
  if (!isRepositoryName(name)) return null;
  const own = kind === 'user' ? { ownerUserId: id } : { ownerOrganisationId: id };
  const where = { ...own, nameFolded: foldRepositoryName(name) };
  return typeof source === 'function'
    ? rowBy(source, repositorySchema, { ...where, deletedAt: null })
    : source.findOneBy(repositorySchema, { ...where, deletedAt: IsNull() });
}

/** Throws `repository_not_found` unless the repository is live and the viewer has the required access. */
async function checkAccess(
  deps: Pick<RepositoryDeps, 'organisations'>,
  source: RowSource,
  viewer: Viewer,
  repository: Repository,
  needed: Needed,
): Promise<{ level: Level; isOwner: boolean }> {
  // Also for the command line: only `restore` finds repositories in the trash.
  if (repository.deletedAt !== null) throw repositoryNotFound();
  const facts = await repositoryFacts(deps, source, viewer.kind === 'person' ? viewer.id : null, repository);
  const level = repositoryLevel(viewer, facts);
  const isOwner = ownsRepository(viewer, facts);
  const enough = needed === 'owner' ? isOwner : level !== 'none' && allows(level, needed);
  if (!enough) throw repositoryNotFound();
  return { level, isOwner };
}

/**
 * Reads the facts from which `access/` derives the access of a user or an anonymous viewer.
 * @param source the row cache, or the manager of the deciding transaction
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
    teamRole: null,
    deleted: repository.deletedAt !== null,
  };
  if (personId === null) return facts;
  if (repository.ownerOrganisationId !== null) {
    facts.organisationRole = await organisations.roleOf(personId, repository.ownerOrganisationId, source);
    facts.teamRole = await teamRoleOf(source, personId, repository.id);
  }
  const collaborator = await rowBy(source, collaboratorSchema, { repositoryId: repository.id, userId: personId });
  facts.collaboratorRole = collaborator?.role ?? null;
  return facts;
}

/** The highest role that teams give a user on a repository. The row cache returns a limited number of rows. */
async function teamRoleOf(source: RowSource, userId: string, repositoryId: string): Promise<CollaboratorRole | null> {
  const some = await rowBy(source, teamGrantSchema, { repositoryId, userId });
  if (some === null || some.role === 'admin') return some?.role ?? null;
  for (const role of ['admin', 'write'] as const)
    if ((await rowBy(source, teamGrantSchema, { repositoryId, userId, role })) !== null) return role;
  return 'read';
}

/** Condition that selects rows of an owner. */
export function ownedBy({ kind, id }: Pick<Owner, 'kind' | 'id'>): FindOptionsWhere<Repository> {
  return kind === 'user' ? { ownerUserId: id } : { ownerOrganisationId: id };
}

/** UUID of the single owner (SPEC §2.2). */
export function ownerIdOf(repository: Pick<Repository, 'ownerUserId' | 'ownerOrganisationId'>): string {
  return (repository.ownerUserId ?? repository.ownerOrganisationId)!;
}
