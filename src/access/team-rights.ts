import { isLocalAdministrator } from './viewer.ts';
import { scopeAllows } from './repository-level.ts';
import type { OrganisationRole } from './repository-facts.ts';
import type { Viewer } from './viewer.ts';

/** Facts about a viewer that the team policy needs. */
interface TeamFacts {
  /** The viewer's role in the organisation. */
  organisationRole: OrganisationRole | null;
  /** Whether the viewer is in the team. */
  isMember: boolean;
}

/**
 * `read` is to see a team, its members, and those of its repositories that one can read; it includes mentioning it,
 * naming it in a rule and requesting its review. `manage` is everything else.
 */
export type TeamAct = 'read' | 'manage';

/** Why an action is refused; `hidden` must look like absent. */
type TeamRefusal = 'hidden' | 'scope';

/**
 * The policy of teams: visible to members of the organisation in any role, and to team members; OWNERs manage all. The
 * repository access of a team is part of `repositoryLevel`. A token limited to repositories sees no team. Null if
 * allowed.
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

/** Facts that the policy of team reviews needs. */
interface TeamReviewFacts {
  /** Whether the team has a role in the repository, so that each of its members can read it. */
  hasRole: boolean;
  /** Number of its members besides the author and the submitter of the pull request. */
  reviewers: number;
}

/**
 * Whether a review may be requested from a team, by a user who may request reviews and can see the team: only if it has
 * a role and a member who can answer. Null if allowed.
 */
export function refusalOnTeamReview({ hasRole, reviewers }: TeamReviewFacts): 'no_role' | 'no_reviewers' | null {
  if (!hasRole) return 'no_role';
  return reviewers > 0 ? null : 'no_reviewers';
}
