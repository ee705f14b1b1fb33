import { allows } from './level.ts';
import type { Level } from './level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** What is known of a person and of a job that waits for an environment. */
interface DeploymentFacts {
  /** The right of the viewer on the repository, as of now. */
  level: Level;
  /** Whether the person, or a team of the person, is named as a reviewer. */
  isReviewer: boolean;
  /** Whether the person has started the run, or this attempt of it. */
  hasStarted: boolean;
  preventsSelfReview: boolean;
  needsWrite: boolean;
  adminsBypass: boolean;
}

/** `self`: who has started it; `write`: a reviewer who may not push; `other`: all others. */
export type DeploymentRefusal = 'self' | 'write' | 'other';

/**
 * Who decides about a deployment: a reviewer, or an administrator of the repository where the environment lets them.
 * Deploy keys, tasks and tokens that only read decide nothing.
 */
export function rightToDeploy(viewer: Viewer, facts: DeploymentFacts): 'reviewer' | 'bypass' | DeploymentRefusal {
  if (viewer.kind !== 'person' || !allows(viewer.scope, 'write') || facts.level === 'none') return 'other';
  const mayBypass = facts.adminsBypass && facts.level === 'admin';
  if (isLocalAdministrator(viewer)) return mayBypass ? 'bypass' : 'other';
  if (!facts.isReviewer && !mayBypass) return 'other';
  if (facts.preventsSelfReview && facts.hasStarted) return 'self';
  if (facts.isReviewer && (!facts.needsWrite || allows(facts.level, 'write'))) return 'reviewer';
  return mayBypass ? 'bypass' : 'write';
}
