import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { cancelling } from '../runner-model/runner.ts';
import { offlineAfterMs } from '../runner-model/runner-status.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { RunChanges } from './run-changes.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { isFinal, isRunning } from '../run-status.ts';

interface CancelOptions {
  /** Shown on the page; null if a user cancelled the job. */
  reason: string | null;
  /** Skips the runner's post steps. */
  force?: boolean;
}

/**
 * Cancels a job. A job without a runner ends at once. A runner that can run post steps gets the request with its next
 * report; until then the job is `cancelling`. Jobs of other runners and of silent ones end at once.
 */
export async function cancelJob(
  deps: Pick<CiDeps, 'presence'>,
  tx: Tx,
  runChanges: RunChanges,
  job: JobRow,
  { reason, force = false }: CancelOptions,
): Promise<void> {
  if (isFinal(job.status)) return;
  if (!isRunning(job.status)) return runChanges.change(job, { status: 'cancelled', reason });
  const task = await tx.manager.findOneBy(taskSchema, { id: job.taskId! });
  const canFinish = !force && task?.runnerId != null && (await canFinishTasks(deps, tx, task.runnerId));
  if (canFinish) {
    await tx.manager.update(taskSchema, { id: job.taskId! }, { status: 'cancelling' });
    runChanges.change(job, { status: 'cancelling', reason });
    return;
  }
  await tx.manager.update(taskSchema, { id: job.taskId! }, { status: 'cancelled', stoppedAt: tx.now });
  runChanges.change(job, { status: 'cancelled', reason });
}

async function canFinishTasks(
  { presence }: Pick<CiDeps, 'presence'>,
  { manager, now }: Tx,
  runnerId: number,
): Promise<boolean> {
  const runner = await manager.findOneBy(runnerSchema, { id: runnerId });
  if (runner === null || !runner.capabilities.includes(cancelling)) return false;
  const { lastSeenAt } = presence.of(runner);
  return lastSeenAt !== null && now - lastSeenAt <= offlineAfterMs;
}

/** Cancels all unfinished jobs of a run, and prevents blocked ones from starting. */
export async function cancelJobs(
  deps: Pick<CiDeps, 'presence'>,
  tx: Tx,
  runChanges: RunChanges,
  options: CancelOptions,
): Promise<void> {
  runChanges.run.isCancelled = true;
  if (options.reason !== null) runChanges.run.reason = options.reason;
  for (const job of runChanges.jobs) await cancelJob(deps, tx, runChanges, job, options);
  await runChanges.save();
}
