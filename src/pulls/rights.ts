import { refusalOnPull } from '../access/index.ts';
import type { IssueRefusal, PullAct, Viewer } from '../access/index.ts';
import type { IssueAt } from '../issues/index.ts';
import type { PullDeps } from './deps.ts';
import { factsOfPull, findPull } from './find-pull.ts';

/** Permissions of a viewer on one pull request: null allows an action. Pages show the forms of allowed actions. */
export type PullRights = (act: PullAct) => IssueRefusal | null;

/**
 * The policy for a viewer and a pull request, evaluated per action. Throws `repository_not_found`, `pull_not_found`.
 */
export async function rightsOnPull(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<PullRights> {
  const { facts, issue, pull } = await findPull(deps, viewer, at);
  const pullFacts = factsOfPull(issue, pull);
  return (act) => refusalOnPull(viewer, facts, pullFacts, act);
}
