import type { Viewer } from '../../access/index.ts';
import { bindDeps } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { runTopic } from '../notifier-topics.ts';
import { cancelRun } from './cancel-run.ts';
import { dispatchEvent } from './repository-dispatch.ts';
import { plannedRuns } from './list-schedules.ts';
import { checkContent, checkFiles, dispatchWorkflow, listDispatchable, listWorkflows } from './dispatch-workflow.ts';
import { filesOf } from './files-of-run.ts';
import { findJob, findJobById, firstAttemptsOf, findRun, runById, tasksOf, runnersOf, stepNames } from './find-run.ts';
import { jobsOfCommit } from './jobs-of-commit.ts';
import { statusCommitOf } from './job-commit-status.ts';
import { jobsAcross, runsAcross } from './list-across.ts';
import { listTasks, pageOfJobs } from './list-tasks.ts';
import { listRuns, pageOfRuns, newestChecked, newestRun, workflowsOf } from './list-runs.ts';
import type { RunFilter } from './list-runs.ts';
import { rerun } from './rerun.ts';
import type { RerunChoice, RerunOptions } from './rerun.ts';

/** Runs of a repository and their jobs. */
export function createRunService(deps: CiDeps) {
  const bind = bindDeps(deps);
  return {
    list: (found: Found, filter: RunFilter, page: { limit: number; before?: number | undefined }) =>
      listRuns(deps, found, filter, page),
    workflowsOf: bind(workflowsOf),
    newest: bind(newestRun),
    newestChecked: bind(newestChecked),
    find: bind(findRun),
    findJob: bind(findJob),
    findJobById: bind(findJobById),
    byId: bind(runById),
    jobsOfCommit: bind(jobsOfCommit),
    /** The commit that shows the statuses of a run. */
    commitOf: statusCommitOf,
    tasksOf: bind(tasksOf),
    firstAttemptsOf: bind(firstAttemptsOf),
    listTasks: bind(listTasks),
    jobs: bind(pageOfJobs),
    page: bind(pageOfRuns),
    across: bind(runsAcross),
    jobsAcross: bind(jobsAcross),
    runnersOf: bind(runnersOf),
    stepNames: bind(stepNames),
    filesOf: bind(filesOf),
    /** Resolves when a run has changed, or after a timeout. */
    waitFor: (runId: number, options: { signal: AbortSignal; timeoutMs: number }) =>
      deps.notifier.wait(runTopic(runId), options),
    cancel: bind(cancelRun),
    rerun: (viewer: Viewer, found: Found, number: number, choice: RerunChoice, options?: RerunOptions) =>
      rerun(deps, viewer, found, number, choice, options),
  };
}

/** Workflows on the default branch, and their manual start. */
export function createWorkflowService(deps: CiDeps) {
  const bind = bindDeps(deps);
  return {
    list: bind(listWorkflows),
    listDispatchable: bind(listDispatchable),
    planned: bind(plannedRuns),
    dispatch: bind(dispatchWorkflow),
    check: bind(checkContent),
    checkFiles: bind(checkFiles),
    dispatchEvent: bind(dispatchEvent),
  };
}
