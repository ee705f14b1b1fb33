import { accessGrantsOf } from './access-grants.ts';
import { allows, higher, lower } from './level.ts';
import type { Level } from './level.ts';
import type { OrganisationRole, RepositoryFacts, Visibility } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';
import type { SqlCondition } from './visible-repositories.ts';

/** What the policy of packages needs to know of the owner of a package. */
export interface PackageOwnerFacts {
  kind: 'user' | 'organisation';
  id: string;
  /** The viewer's role in the owning organisation. */
  role: OrganisationRole | null;
}

/** What it needs to know of one package. */
export interface PackageFacts {
  owner: PackageOwnerFacts;
  /** Of a package that is linked to no repository. */
  visibility: Visibility;
  /** The repository that it is linked to, which it follows; null without one, and for one of another owner. */
  repository: RepositoryFacts | null;
}

/**
 * `read` includes pulling; `publish` adds versions, moves tags and marks versions; `delete` removes versions and brings
 * them back; `manage` changes visibility, link and retention rules.
 */
export type PackageAct = 'read' | 'publish' | 'delete' | 'manage';

/** Why an act is refused; `hidden` must look like absent. */
export type PackageRefusal = 'hidden' | 'sign_in' | 'scope' | 'level';

/**
 * The level of a viewer on a package. A linked package follows its repository. Any other one is read by everyone, or
 * by the owner alone where it is PRIVATE; the owning person, and OWNERs of the organisation, administer it, MEMBERs
 * write, GUESTs read. A token limited to repositories, and a task, have what their repositories give. Deploy keys have
 * nothing. `visiblePackages` states the same in SQL.
 */
function packageLevel(viewer: Viewer, { owner, visibility, repository }: PackageFacts): Level {
  if (viewer.kind === 'deployKey') return 'none';
  if (repository !== null) return repositoryLevel(viewer, repository);
  if (isLocalAdministrator(viewer)) return 'admin';
  const open: Level = visibility === 'PUBLIC' ? 'read' : 'none';
  if (viewer.kind !== 'person' || viewer.repositoryIds !== null) return open;
  return higher(open, lower(roleLevel(viewer.id, owner), viewer.scope));
}

/** What a person has on all packages of an owner that follow no repository. */
function roleLevel(personId: string, { kind, id, role }: PackageOwnerFacts): Level {
  const grants = accessGrantsOf(personId, {
    id: '',
    visibility: 'PRIVATE',
    ownerUserId: kind === 'user' ? id : null,
    ownerOrganisationId: kind === 'user' ? null : id,
    organisationRole: role,
    collaboratorRole: null,
    teamRole: null,
    deleted: false,
  });
  return grants[0]?.level ?? 'none';
}

const needed: Readonly<Record<PackageAct, Level>> = {
  read: 'read',
  publish: 'write',
  delete: 'write',
  manage: 'admin',
};

/** The policy of packages; null is yes. */
export function refusalOnPackage(viewer: Viewer, facts: PackageFacts, act: PackageAct): PackageRefusal | null {
  const level = packageLevel(viewer, facts);
  if (level === 'none') return 'hidden';
  if (allows(level, needed[act])) return null;
  if (viewer.kind === 'anonymous') return 'sign_in';
  if (viewer.kind === 'person' && !allows(viewer.scope, needed[act])) return 'scope';
  if (viewer.kind === 'task' && facts.repository?.id === viewer.repositoryId) return 'scope';
  return 'level';
}

/**
 * The policy of making a package: who may write to all packages of the owner; a task, for the owner of its repository.
 * @param repository the repository that the package would be linked to, with its owner the same; null for none
 */
export function refusalToAddPackage(
  viewer: Viewer,
  owner: PackageOwnerFacts,
  repository: RepositoryFacts | null,
): PackageRefusal | null {
  return refusalOnPackage(viewer, { owner, visibility: 'PRIVATE', repository }, 'publish');
}

/**
 * The read half of the policy as a condition on rows of `packages`, joined with `repositories`, whose columns are NULL
 * for a package without a link.
 * @param repositories what `visibleRepositories` says of the joined alias
 */
export function visiblePackages(
  viewer: Viewer,
  alias: string,
  repository: string,
  repositories: SqlCondition,
): SqlCondition {
  if (isLocalAdministrator(viewer)) return { sql: '1 = 1', parameters: {} };
  if (viewer.kind === 'deployKey') return { sql: '1 = 0', parameters: {} };
  const open = `${alias}.visibility = 'PUBLIC'`;
  const own = `${alias}.owner_id = :viewerId OR EXISTS (SELECT 1 FROM organisation_members pm
      WHERE pm.organisation_id = ${alias}.owner_id AND pm.user_id = :viewerId)`;
  const isOwner = viewer.kind === 'person' && viewer.repositoryIds === null;
  return {
    sql: `((${repository}.id IS NOT NULL AND ${repositories.sql}) OR (${repository}.id IS NULL AND (${isOwner ? `${open} OR ${own}` : open})))`,
    parameters: { ...repositories.parameters, ...(isOwner ? { viewerId: viewer.id } : {}) },
  };
}
