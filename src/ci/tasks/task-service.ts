import { bindDeps } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { explainQueue } from './explain-queue.ts';
import { FetchCalls, fetchTask, returnTask } from './fetch-task.ts';
import type { FetchOptions } from './fetch-task.ts';
import { reportTask } from './report-task.ts';
import { credentialOfTaskToken, viewerOfTaskToken } from './task-token.ts';

/** Jobs as runners execute them: handed out, reported, queued again. */
export function createTaskService(deps: CiDeps) {
  const bind = bindDeps(deps);
  const calls = new FetchCalls();
  return {
    fetch: (runner: RunnerRow, options: FetchOptions) => fetchTask(deps, calls, runner, options),
    /** For a response that could not be sent: the job is queued again. */
    return: bind(returnTask),
    report: bind(reportTask),
    viewerOfToken: bind(viewerOfTaskToken),
    credentialOfToken: bind(credentialOfTaskToken),
    explainQueue: bind(explainQueue),
  };
}
