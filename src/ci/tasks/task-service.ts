import { bindDeps } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { explainQueue } from './explain-queue.ts';
import { FetchCalls, fetchTask, returnTask } from './fetch-task.ts';
import type { FetchOptions } from './fetch-task.ts';
import { reportTask } from './report-task.ts';
import { credentialOfTaskToken, viewerOfTaskToken } from './task-token.ts';

/** Assignment of jobs to runners, their reports, and requeueing. */
export function createTaskService(deps: CiDeps) {
  const bind = bindDeps(deps);
  const calls = new FetchCalls();
  return {
    fetch: (runner: RunnerRow, options: FetchOptions) => fetchTask(deps, calls, runner, options),
    /** Queues the job again if its response could not be sent. */
    return: bind(returnTask),
    report: bind(reportTask),
    viewerOfToken: bind(viewerOfTaskToken),
    credentialOfToken: bind(credentialOfTaskToken),
    explainQueue: bind(explainQueue),
  };
}
