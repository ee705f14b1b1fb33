import { isLocalAdministrator } from './viewer.ts';
import type { Scope, Viewer } from './viewer.ts';

/** Rights on a repository, each including those before it. */
export type Level = 'none' | 'read' | 'write' | 'admin';

export type Visibility = 'PUBLIC' | 'PRIVATE';
export type OrganisationRole = 'GUEST' | 'MEMBER' | 'OWNER';
export type CollaboratorRole = 'read' | 'write' | 'admin';

export const organisationRoles: readonly OrganisationRole[] = ['GUEST', 'MEMBER', 'OWNER'];
export const collaboratorRoles: readonly CollaboratorRole[] = ['read', 'write', 'admin'];

/** Everything the policy needs to know of a repository and of the viewer's ties to it. */
export interface RepositoryFacts {
  id: string;
  visibility: Visibility;
  /** Exactly one of the two owners is set (SPEC §2.2). */
  ownerUserId: string | null;
  ownerOrganisationId: string | null;
  /** The viewer's role in the owning organisation. */
  organisationRole: OrganisationRole | null;
  /** The viewer's role as a collaborator of this repository. */
  collaboratorRole: CollaboratorRole | null;
  /** In the trash: hidden from everybody but the command line. */
  deleted: boolean;
}

const order: readonly Level[] = ['none', 'read', 'write', 'admin'];

const byOrganisationRole: Record<OrganisationRole, Level> = {
  GUEST: 'read',
  MEMBER: 'write',
  OWNER: 'admin',
};

const higher = (a: Level, b: Level): Level => (order.indexOf(a) >= order.indexOf(b) ? a : b);
const lower = (a: Level, b: Level): Level => (order.indexOf(a) <= order.indexOf(b) ? a : b);

/** Whether a right of `held` covers what needs `needed`. */
export function allows(held: Level, needed: Level): boolean {
  return order.indexOf(held) >= order.indexOf(needed);
}

/**
 * The single access policy (SPEC §5): what a viewer may do with a repository.
 *
 * Organisation GUEST reads, MEMBER writes, OWNER administers; the owning user
 * administers; a collaborator has the role given; the highest tie counts.
 * Everyone else reads what is PUBLIC. Being the administrator of the instance
 * gives nothing here: the command line is where that power lives.
 *
 * A token caps the result by its scope, and outside its repository list its
 * holder is like a stranger. `visibleRepositories` states the same rule in SQL.
 */
export function repositoryLevel(viewer: Viewer, facts: RepositoryFacts): Level {
  if (isLocalAdministrator(viewer)) return 'admin';
  if (facts.deleted) return 'none';
  const open: Level = facts.visibility === 'PUBLIC' ? 'read' : 'none';
  if (viewer.kind === 'anonymous') return open;
  if (viewer.repositoryIds !== null && !viewer.repositoryIds.includes(facts.id)) return open;

  let tie: Level = 'none';
  if (facts.ownerUserId === viewer.id) tie = 'admin';
  if (facts.organisationRole !== null) tie = higher(tie, byOrganisationRole[facts.organisationRole]);
  if (facts.collaboratorRole !== null) tie = higher(tie, facts.collaboratorRole);
  return higher(open, lower(tie, viewer.scope));
}

/** Whether a credential's scope covers an act that is not about one repository. */
export function scopeAllows(viewer: Viewer, needed: Scope): boolean {
  return viewer.kind === 'person' && allows(viewer.scope, needed);
}
