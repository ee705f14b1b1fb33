import { unauthenticated } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { isRunning } from '../run-status.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { readRuntimeToken } from '../tasks/runtime-token.ts';
import { taskSchema } from '../schema/task-schema.ts';

/** A running task and its run. */
export interface RunningTask {
  taskId: number;
  jobId: number;
  run: RunRow;
}

const refusal = () => unauthenticated('bad_runtime_token', 'This token is not valid here, or has expired.');

/** Returns the task of a runtime token while the task runs or is being cancelled. Throws `bad_runtime_token`. */
export async function authoriseTask(deps: Pick<CiDeps, 'db' | 'key' | 'clock'>, token: string): Promise<RunningTask> {
  const claims = readRuntimeToken(deps.key, token, deps.clock.now());
  if (claims === null) throw refusal();
  return runningTask(deps, claims.taskId);
}

/** Throws `bad_runtime_token` if the task has ended. */
export async function runningTask({ db }: Pick<CiDeps, 'db'>, taskId: number): Promise<RunningTask> {
  const task = await db.read.findOneBy(taskSchema, { id: taskId });
  if (task === null || !isRunning(task.status)) throw refusal();
  const job = await db.read.findOneBy(jobSchema, { id: task.jobId });
  const run = job === null ? null : await db.read.findOneBy(runSchema, { id: job.runId });
  if (job === null || run === null) throw refusal();
  return { taskId, jobId: job.id, run };
}
