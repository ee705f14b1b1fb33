import type { Tx } from '../../db/index.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { AfterCommit } from '../runs/after-commit.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { CiDeps } from '../deps.ts';
import type { Claim } from '../task-queue/claim.ts';
import type { FairScheduler } from './fair-scheduler.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';
import { hashTaskToken, taskToken } from './task-token.ts';
import { mayTake, groupWaitingJobs } from '../task-queue/group-waiting-jobs.ts';

/**
 * Assigns the next job to a runner: one write selects a job, claims it by a conditional update and creates its task, so
 * that exactly one runner gets it (security H03). Null if no job fits the runner.
 * @param jobId the only job that it may get; null for the next one
 */
export async function claimTask(
  deps: Pick<CiDeps, 'repositories' | 'key' | 'endings' | 'deploymentListeners' | 'reviewListeners'>,
  tx: Tx,
  after: AfterCommit,
  runner: RunnerRow,
  { requestKey, jobId }: { requestKey: string | null; jobId: number | null },
  order: FairScheduler,
): Promise<Claim | null> {
  const { manager, now } = tx;
  // The runner may have been disabled or removed while it waited.
  const present = await manager.findOneBy(runnerSchema, { id: runner.id });
  if (present === null || present.disabledAt !== null) return null;
  if (present.ephemeral && (await manager.existsBy(taskSchema, { runnerId: runner.id }))) return null;
  for (const line of order.sort(await groupWaitingJobs(manager, jobId))) {
    if (!mayTake(present, line)) continue;
    const job = await manager.findOneByOrFail(jobSchema, { id: line.firstJobId });
    const task = await insertTask(deps, tx, present, job, requestKey);
    const { affected } = await manager
      .createQueryBuilder()
      .update(jobSchema)
      .set({ status: 'running', taskId: task.id, startedAt: now })
      .where("id = :id AND status = 'waiting' AND task_id IS NULL", { id: job.id })
      .execute();
    if (affected !== 1) throw new Error(`job ${job.id} was taken inside the write that took it`);
    const runChanges = (await RunChanges.open(deps, tx, after, job.runId))!;
    const row = runChanges.jobs.find((one) => one.id === job.id);
    if (row !== undefined) runChanges.change(row, {});
    await runChanges.save();
    order.served(line);
    return { task, job: row ?? { ...job, status: 'running', taskId: task.id, startedAt: now } };
  }
  return null;
}

async function insertTask(
  { key }: Pick<CiDeps, 'key'>,
  { manager, now }: Tx,
  runner: RunnerRow,
  job: JobRow,
  requestKey: string | null,
): Promise<TaskRow> {
  const row: Omit<TaskRow, 'id'> = {
    jobId: job.id,
    runnerId: runner.id,
    runnerName: runner.name,
    requestKey,
    tokenHash: `none yet of job ${job.id} at ${now} after ${job.losses}`,
    status: 'running',
    notices:
      job.lostRunner === null
        ? []
        : [`The runner ${job.lostRunner} was lost while it had this job. This is the second try.`],
    createdAt: now,
    confirmedAt: null,
    reportedAt: null,
    startedAt: null,
    stoppedAt: null,
    annotatedRows: 0,
    logRows: 0,
    logBytes: 0,
    logDropped: 0,
    sealedAt: null,
    logRemovedAt: null,
  };
  const { identifiers } = await manager.insert(taskSchema, row);
  const id = identifiers[0]!.id as number;
  // The token is derived from the id, which the database assigns.
  const tokenHash = hashTaskToken(key, taskToken(key, id));
  await manager.update(taskSchema, { id }, { tokenHash });
  return { ...row, id, tokenHash };
}
