import { isLocalAdministrator } from './viewer.ts';
import { scopeAllows } from './repository-level.ts';
import type { OrganisationRole } from './repository-facts.ts';
import type { Viewer } from './viewer.ts';

/** What the policy of teams needs to know of a viewer. */
export interface TeamFacts {
  /** The viewer's role in the organisation. */
  organisationRole: OrganisationRole | null;
  /** Whether the viewer is in the team. */
  isMember: boolean;
}

/**
 * `read` is to know of a team, of its people, and of those of its repositories that one may read; to mention it and to
 * name it in a rule is that, too. `manage` is everything else.
 */
export type TeamAct = 'read' | 'manage';

/** Why an act is refused; `hidden` must look like absent. */
export type TeamRefusal = 'hidden' | 'scope';

/**
 * The policy of teams: members of the organisation, whatever their role, and the people of a team know of it; OWNERs
 * manage all. What a team gives on a repository is part of `repositoryLevel`. A token that is limited to repositories
 * knows of no team. Null when allowed.
 */
export function refusalOnTeam(
  viewer: Viewer,
  { organisationRole, isMember }: TeamFacts,
  act: TeamAct,
): TeamRefusal | null {
  if (isLocalAdministrator(viewer)) return null;
  if (viewer.kind !== 'person' || viewer.repositoryIds !== null) return 'hidden';
  if (act === 'read') return organisationRole !== null || isMember ? null : 'hidden';
  if (organisationRole !== 'OWNER') return 'hidden';
  return scopeAllows(viewer, 'admin') ? null : 'scope';
}
