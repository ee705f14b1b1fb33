import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { cancelling } from '../runners/runner.ts';
import { offlineAfterMs } from '../runners/runner-status.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { RunChanges } from './run-changes.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { isFinal, isRunning } from '../run-status.ts';

export interface CancelOptions {
  /** In words for the page; null when a person asked for it. */
  reason: string | null;
  /** Does not wait for a runner to wind up. */
  force?: boolean;
}

/**
 * Cancels a job. One that no runner has ends at once. A runner that can wind up its
 * task (post steps) is told at its next report and the job is `cancelling` until
 * then; every other runner, and one that is silent, is not waited for.
 */
export async function cancelJob(
  deps: Pick<CiDeps, 'presence'>,
  tx: Tx,
  board: RunChanges,
  job: JobRow,
  { reason, force = false }: CancelOptions,
): Promise<void> {
  if (isFinal(job.status)) return;
  if (!isRunning(job.status)) return board.change(job, { status: 'cancelled', reason });
  const task = await tx.manager.findOneBy(taskSchema, { id: job.taskId! });
  const windsUp = !force && task?.runnerId != null && (await windsUpTasks(deps, tx, task.runnerId));
  if (windsUp) {
    await tx.manager.update(taskSchema, { id: job.taskId! }, { status: 'cancelling' });
    board.change(job, { status: 'cancelling', reason });
    return;
  }
  await tx.manager.update(taskSchema, { id: job.taskId! }, { status: 'cancelled', stoppedAt: tx.now });
  board.change(job, { status: 'cancelled', reason });
}

async function windsUpTasks(
  { presence }: Pick<CiDeps, 'presence'>,
  { manager, now }: Tx,
  runnerId: number,
): Promise<boolean> {
  const runner = await manager.findOneBy(runnerSchema, { id: runnerId });
  if (runner === null || !runner.capabilities.includes(cancelling)) return false;
  const { lastSeenAt } = presence.of(runner);
  return lastSeenAt !== null && now - lastSeenAt <= offlineAfterMs;
}

/** Cancels all that a run has not ended yet, and keeps what is still blocked from beginning. */
export async function cancelJobs(
  deps: Pick<CiDeps, 'presence'>,
  tx: Tx,
  board: RunChanges,
  options: CancelOptions,
): Promise<void> {
  board.run.isCancelled = true;
  if (options.reason !== null) board.run.reason = options.reason;
  for (const job of board.jobs) await cancelJob(deps, tx, board, job, options);
  await board.save();
}
