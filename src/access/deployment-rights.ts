import { allows } from './level.ts';
import type { Level } from './level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** Facts about a user and a job that waits for an environment. */
interface DeploymentFacts {
  /** The viewer's current level on the repository. */
  level: Level;
  /** Whether the user, or one of their teams, is a reviewer. */
  isReviewer: boolean;
  /** Whether the user started the run, or this attempt of it. */
  hasStarted: boolean;
  preventsSelfReview: boolean;
  needsWrite: boolean;
  adminsBypass: boolean;
}

/** `self`: the user who started it; `write`: a reviewer without write access; `other`: all others. */
export type DeploymentRefusal = 'self' | 'write' | 'other';

/**
 * Who decides about a deployment: a reviewer, or an administrator of the repository if the environment allows it.
 * Deploy keys, tasks and read-only tokens cannot decide.
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
