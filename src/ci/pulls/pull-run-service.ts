import type { Viewer } from '../../access/index.ts';
import { bindDeps } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { findWorkflows } from '../workflows/find-workflows.ts';
import { sourceOf } from '../workflows/workflow-reader.ts';
import { approveRun, approveRunsOfPull } from './approve-runs.ts';
import { runOnMergeGroups } from './run-on-merge-group.ts';
import { pullNumberOf, runsAwaitingApproval } from './runs-awaiting-approval.ts';

/** Runs of a pull request that wait for approval, and the commits that they would run. */
export interface PullApproval {
  /** Number of the pull request. */
  number: number;
  /** Oldest first, at least one. */
  runs: RunRow[];
  /** The tested head; forms submit it. */
  headOid: string;
  /** Tip of the base branch, and the merge commit whose workflow files run. */
  merge: { from: string; to: string };
  mayApprove: boolean;
}

/** Runs of a pull request that wait for approval; null if there are none. Throws `pull_not_found`. */
async function approvalOf(deps: CiDeps, viewer: Viewer, found: Found, number: number): Promise<PullApproval | null> {
  const runs = await runsAwaitingApproval(deps.db.read, { repositoryId: found.repository.id, number });
  const newest = runs.at(-1);
  if (newest === undefined) return null;
  const { base, head } = newest.eventPayload['pull_request'] as Record<'base' | 'head', { sha: string }>;
  const rights = await deps.pullSources().pulls.rightsOn(viewer, { ...found.canonical, number });
  return {
    number,
    runs,
    headOid: head.sha,
    merge: { from: base.sha, to: newest.sha },
    mayApprove: rights('run_ci') === null,
  };
}

/** Whether workflows of a branch name pull requests: they run once there is a merge to test. */
async function hasWorkflows(deps: CiDeps, { path, repository }: Found, baseBranch: string): Promise<boolean> {
  const tip = (await deps.git.queries.cachedRefs(path)).get(`refs/heads/${baseBranch}`);
  if (tip === undefined) return false;
  for (const file of await findWorkflows(deps.git, path, tip)) {
    const parsed = await deps.workflows.read(sourceOf(file, repository.id));
    if (((parsed.ok ? parsed.workflow.triggers : parsed.triggers)?.pull ?? null) !== null) return true;
  }
  return false;
}

/** Runs of pull requests. */
export function createPullRunService(deps: CiDeps) {
  const bind = bindDeps(deps);
  return {
    numberOf: pullNumberOf,
    approvalOf: bind(approvalOf),
    approve: bind(approveRun),
    approveAll: bind(approveRunsOfPull),
    hasWorkflows: bind(hasWorkflows),
    /** Tests for `pulls.queue.setCandidateTests`. */
    candidateTests: runOnMergeGroups(deps),
  };
}
