import { advanceJobs } from '../runs/advance-run.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { CiDeps } from '../deps.ts';
import { taskSchema } from '../schema/task-schema.ts';

/** Number of lost runners after which a job fails. */
const maxLosses = 3;

const runnerLost = 'The runner took this job and did not report again.';

/**
 * Takes back an unconfirmed task: its job is queued again, for a task with a new id. A lost task is reported as
 * cancelled from now on, in case its runner returns; a task that no runner received is deleted.
 * @param countsAsLoss false if it is known that no runner received it
 */
export async function releaseTask(
  deps: CiDeps,
  taskId: number,
  { countsAsLoss }: { countsAsLoss: boolean },
): Promise<void> {
  const task = await deps.db.read.findOneBy(taskSchema, { id: taskId });
  const job = task === null ? null : await deps.db.read.findOneBy(jobSchema, { id: task.jobId });
  if (task === null || job === null) return;
  const loaded = await deps.runs.load(job.runId);
  await changeRuns(deps, async (tx, after) => {
    const { affected } = await tx.manager
      .createQueryBuilder()
      .update(taskSchema)
      .set({ status: 'cancelled', stoppedAt: tx.now, sealedAt: tx.now })
      .where("id = :taskId AND confirmed_at IS NULL AND status IN ('running', 'cancelling')", { taskId })
      .execute();
    // The task was confirmed since.
    if (affected !== 1) return;
    if (!countsAsLoss) await tx.manager.delete(taskSchema, { id: taskId });
    const runChanges = await RunChanges.open(deps, tx, after, job.runId);
    const row = runChanges?.jobs.find((one) => one.taskId === taskId);
    if (runChanges == null || row === undefined) return;
    const losses = row.losses + (countsAsLoss ? 1 : 0);
    if (row.status === 'cancelling' || runChanges.run.isCancelled)
      runChanges.change(row, { status: 'cancelled', taskId: countsAsLoss ? taskId : null });
    else if (losses >= maxLosses || (countsAsLoss && row.environment !== null))
      runChanges.change(row, { status: 'failure', losses, reason: runnerLost });
    else
      runChanges.change(row, {
        status: 'waiting',
        taskId: null,
        losses,
        startedAt: null,
        waitingSince: row.waitingSince ?? tx.now,
      });
    await advanceJobs(deps, tx, after, runChanges, loaded);
  });
  deps.logger.info('ci.task_released', { task: taskId, job: job.id, countsAsLoss });
}
