import { allows, higher, lower } from './level.ts';
import type { Level } from './level.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import { accessGrantsOf } from './access-grants.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Scope, Viewer } from './viewer.ts';

/**
 * The single access policy (SPEC §5): the level that a viewer has on a repository.
 *
 * Organisation GUEST reads, MEMBER writes, OWNER administers; the owning user administers; collaborators and team
 * members have their given role; the highest grant counts. All others can read PUBLIC repositories. Instance
 * administrators have no extra permissions here: they administer repositories through the command line.
 *
 * A token's scope caps the result, and outside its repository list its holder counts as anonymous. A CI task reads and
 * writes its own repository and is anonymous elsewhere. A deploy key has access only to its own repository, not even to
 * PUBLIC ones. `visibleRepositories` states the same rule in SQL.
 */
export function repositoryLevel(viewer: Viewer, facts: RepositoryFacts): Level {
  if (isLocalAdministrator(viewer)) return 'admin';
  if (facts.deleted) return 'none';
  if (viewer.kind === 'deployKey') return viewer.repositoryId === facts.id ? viewer.scope : 'none';
  const open: Level = facts.visibility === 'PUBLIC' ? 'read' : 'none';
  if (viewer.kind === 'anonymous') return open;
  if (viewer.kind === 'task') return viewer.repositoryId === facts.id ? viewer.scope : open;
  if (viewer.repositoryIds !== null && !viewer.repositoryIds.includes(facts.id)) return open;

  const [strongest] = accessGrantsOf(viewer.id, facts);
  return higher(open, lower(strongest?.level ?? 'none', viewer.scope));
}

/**
 * Whether the viewer is "the repository owner" of SPEC §4.3: the owning user, or an OWNER of the owning organisation. A
 * collaborator is not, whatever the role. A token counts only if it may administer this repository.
 */
export function ownsRepository(viewer: Viewer, facts: RepositoryFacts): boolean {
  if (repositoryLevel(viewer, facts) !== 'admin') return false;
  if (viewer.kind !== 'person') return false;
  return isLocalAdministrator(viewer) || facts.ownerUserId === viewer.id || facts.organisationRole === 'OWNER';
}

/** Whether a credential's scope covers an action that does not concern a single repository. */
export function scopeAllows(viewer: Viewer, needed: Scope): boolean {
  return viewer.kind === 'person' && allows(viewer.scope, needed);
}
