import { accessGrantsOf } from './access-grants.ts';
import { allows, higher, lower } from './level.ts';
import type { Level } from './level.ts';
import type { OrganisationRole, RepositoryFacts, Visibility } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';
import type { SqlCondition } from './visible-repositories.ts';

/** Facts about the owner of a package that the policy needs. */
export interface PackageOwnerFacts {
  kind: 'user' | 'organisation';
  id: string;
  /** The viewer's role in the owning organisation. */
  role: OrganisationRole | null;
}

/** Facts about one package that the policy needs. */
export interface PackageFacts {
  owner: PackageOwnerFacts;
  /** For packages that are not linked to a repository. */
  visibility: Visibility;
  /** The linked repository, whose access applies; null without one, or if it belongs to another owner. */
  repository: RepositoryFacts | null;
}

/**
 * `read` includes pulling; `publish` adds versions, moves tags and marks versions; `delete` removes and restores
 * versions; `manage` changes visibility, link and retention rules.
 */
export type PackageAct = 'read' | 'publish' | 'delete' | 'manage';

/** Why an action is refused; `hidden` must look like absent. */
export type PackageRefusal = 'hidden' | 'sign_in' | 'scope' | 'level';

/**
 * The level of a viewer on a package. A linked package follows its repository. Any other package is readable by
 * everyone, or only by the owner if it is PRIVATE; the owning user and OWNERs of the organisation administer it,
 * MEMBERs write, GUESTs read. Tokens limited to repositories, and tasks, have the access of their repositories. Deploy
 * keys have none. `visiblePackages` states the same in SQL.
 */
function packageLevel(viewer: Viewer, { owner, visibility, repository }: PackageFacts): Level {
  if (viewer.kind === 'deployKey') return 'none';
  if (repository !== null) return repositoryLevel(viewer, repository);
  if (isLocalAdministrator(viewer)) return 'admin';
  const open: Level = visibility === 'PUBLIC' ? 'read' : 'none';
  if (viewer.kind !== 'person' || viewer.repositoryIds !== null) return open;
  return higher(open, lower(roleLevel(viewer.id, owner), viewer.scope));
}

/** A user's level on all packages of an owner that are not linked to a repository. */
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

/** The policy of packages; null if allowed. */
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
 * The policy of creating a package: anyone who can write to all packages of the owner; a task, for the owner of its
 * repository.
 * @param repository the repository to link to, if it has the same owner; null for none
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
 * @param repositories condition of `visibleRepositories` for the joined alias
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
