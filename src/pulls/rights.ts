import { refusalOnPull } from '../access/index.ts';
import type { IssueRefusal, PullAct, Viewer } from '../access/index.ts';
import type { IssueAt } from '../issues/index.ts';
import type { PullDeps } from './deps.ts';
import { factsOfPull, findPull } from './find-pull.ts';

/** What a viewer may do with one pull request: null allows an act. Pages show the forms of what is allowed. */
export type PullRights = (act: PullAct) => IssueRefusal | null;

/** The policy for a viewer and a pull request, asked act by act. Refuses `repository_not_found`, `pull_not_found`. */
export async function rightsOnPull(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<PullRights> {
  const { facts, issue, pull } = await findPull(deps, viewer, at);
  const pullFacts = factsOfPull(issue, pull);
  return (act) => refusalOnPull(viewer, facts, pullFacts, act);
}
