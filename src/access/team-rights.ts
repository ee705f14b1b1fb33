import { isLocalAdministrator } from './viewer.ts';
import { scopeAllows } from './repository-level.ts';
import type { OrganisationRole } from './repository-facts.ts';
import type { Viewer } from './viewer.ts';

/** What the policy of teams needs to know of a viewer. */
interface TeamFacts {
  /** The viewer's role in the organisation. */
  organisationRole: OrganisationRole | null;
  /** Whether the viewer is in the team. */
  isMember: boolean;
}

/**
 * `read` is to know of a team, of its people, and of those of its repositories that one may read; to mention it, to
 * name it in a rule and to ask it for a review is that, too. `manage` is everything else.
 */
export type TeamAct = 'read' | 'manage';

/** Why an act is refused; `hidden` must look like absent. */
type TeamRefusal = 'hidden' | 'scope';

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

/** What the policy of reviews by teams needs to know. */
interface TeamReviewFacts {
  /** Whether the team has a role in the repository; each of its people may read it then. */
  hasRole: boolean;
  /** How many people it has besides the author of the pull request and who submitted it. */
  reviewers: number;
}

/**
 * Whether a team may be asked for a review, by who may ask for reviews and knows of the team: only where it has a role
 * and a person who can answer. Null when allowed.
 */
export function refusalOnTeamReview({ hasRole, reviewers }: TeamReviewFacts): 'no_role' | 'no_reviewers' | null {
  if (!hasRole) return 'no_role';
  return reviewers > 0 ? null : 'no_reviewers';
}
