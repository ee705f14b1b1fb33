import { In } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { isFinal } from '../run-status.ts';
import type { FinalStatus } from '../run-status.ts';
import { advanceJobs } from '../runs/advance-run.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { artifactSchema } from '../schema/artifact-schema.ts';
import type { ArtifactRow } from '../schema/artifact-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';

/** Ends a task and its job, with a reason shown to users. */
export function endTask(deps: CiDeps, task: TaskRow, status: FinalStatus, reason: string): Promise<void> {
  return end(deps, task, status, async (_tx, runChanges, row) => runChanges.change(row, { status, reason }));
}

/**
 * Ends a task whose runner is silent. Its job is queued once more, because usually only the machine has failed. A
 * second loss is a failure, so that a job that crashes its machine does not crash one after another. Uploads of the
 * first attempt are removed, because the second one uses the same names.
 */
export async function endLostTask(deps: CiDeps, task: TaskRow): Promise<void> {
  const isCancelled = task.status === 'cancelling';
  let abandoned: ArtifactRow[] = [];
  await end(deps, task, isCancelled ? 'cancelled' : 'failure', async (tx, runChanges, row) => {
    if (isCancelled || runChanges.run.isCancelled)
      return runChanges.change(row, { status: 'cancelled', reason: 'The runner was lost.' });
    // A started deployment may be half done: a user decides whether to restart it.
    if (row.environment !== null)
      return runChanges.change(row, { status: 'failure', reason: 'The runner was lost during a deployment.' });
    if (row.lostRunner !== null || !deps.settings.retriesLostJobs)
      return runChanges.change(row, { status: 'failure', reason: 'The runner was lost.' });
    abandoned = await abandonUploads(tx, task.id);
    runChanges.change(row, {
      status: 'waiting',
      taskId: null,
      lostRunner: task.runnerName,
      startedAt: null,
      waitingSince: tx.now,
    });
  });
  for (const { id, file } of abandoned) {
    await deps.artifacts.uploads.abandon(id);
    await deps.artifacts.remove(file);
  }
}

/** Removes the archives of a task; files of the older protocol are replaced as they are uploaded again. */
async function abandonUploads({ manager }: Tx, taskId: number): Promise<ArtifactRow[]> {
  const task = await manager.findOneByOrFail(taskSchema, { id: taskId });
  const { runId } = await manager.findOneByOrFail(jobSchema, { id: task.jobId });
  const rows = await manager.findBy(artifactSchema, { runId, taskId, form: 'zip', state: In(['uploading', 'ready']) });
  await manager.update(artifactSchema, { id: In(rows.map(({ id }) => id)) }, { state: 'removed' });
  return rows;
}

async function end(
  deps: CiDeps,
  { id, jobId }: TaskRow,
  status: FinalStatus,
  change: (tx: Tx, runChanges: RunChanges, row: JobRow) => Promise<void>,
): Promise<void> {
  const job = await deps.db.read.findOneByOrFail(jobSchema, { id: jobId });
  const loaded = await deps.runs.load(job.runId);
  await changeRuns(deps, async (tx, after) => {
    const task = await tx.manager.findOneByOrFail(taskSchema, { id });
    if (isFinal(task.status)) return;
    await tx.manager.update(taskSchema, { id }, { status, stoppedAt: tx.now });
    const runChanges = await RunChanges.open(deps, tx, after, job.runId);
    const row = runChanges?.jobs.find((one) => one.taskId === id);
    if (runChanges == null || row === undefined) return;
    await change(tx, runChanges, row);
    await advanceJobs(deps, tx, after, runChanges, loaded);
  });
  deps.reports.forget(id);
  deps.logger.warn('ci.task_ended', { task: id, status });
}
