import { In, IsNull } from 'typeorm';
import { runnerSchema } from '../runners/runner-schema.ts';
import { advanceJobs } from '../runs/advance-run.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { jobSchema } from '../runs/job-schema.ts';
import type { JobRow } from '../runs/job-schema.ts';
import { isFinal } from '../runs/run-status.ts';
import type { FinalStatus } from '../runs/run-status.ts';
import { logTopic } from '../notifier.ts';
import type { CiDeps } from '../deps.ts';
import { writeReports } from './report-task.ts';
import { releaseTask } from './release-task.ts';
import { taskSchema } from './task-schema.ts';
import type { TaskRow } from './task-schema.ts';
import { finishedRunners } from './finished-runners.ts';
import { mayTake, groupWaitingJobs } from './group-waiting-jobs.ts';

/** A runner that has a task says so within this time, or never got it. */
const leaseMs = 60_000;
/** A task of a runner that is gone altogether is given up after this time. */
const silentMs = 120_000;
/** And one of a runner that still asks for work, but never speaks of it, after this one. */
const forgottenMs = 600_000;
/** Rows may come after the end of a task; then the log is complete. */
const sealAfterMs = 600_000;

/**
 * What time does to tasks and to those who wait: leases run out, runners are lost,
 * jobs take too long or wait too long, logs are complete, ephemeral runners go.
 * Called every few seconds; times count from the start of the server at the
 * earliest, because nobody could report while it was down.
 */
export async function sweepTasks(room: CiDeps, startedAt: number): Promise<void> {
  await room.presence.write(room.db);
  await writeReports(room);
  for (const task of await room.db.read.findBy(taskSchema, { status: In(['running', 'cancelling']) })) {
    await sweepTask(room, task, startedAt).catch((error: unknown) =>
      room.logger.error('ci.sweep_failed', { task: task.id, error }),
    );
  }
  await sweepWaiting(room);
  await sealLogs(room);
  await removeEphemeral(room);
}

async function sweepTask(room: CiDeps, task: TaskRow, startedAt: number): Promise<void> {
  const now = room.clock.now();
  const since = (moment: number): number => now - Math.max(moment, startedAt);
  if (task.confirmedAt === null) {
    if (since(task.createdAt) > leaseMs) await releaseTask(room, task.id, { countsAsLoss: true });
    return;
  }
  const runner = task.runnerId === null ? null : await room.db.read.findOneBy(runnerSchema, { id: task.runnerId });
  const seenAt = runner === null ? 0 : (room.presence.of(runner).lastSeenAt ?? 0);
  const heardAt = room.reports.lastReportAt(task.id) ?? task.reportedAt ?? task.confirmedAt;
  const isLost = since(heardAt) > silentMs && (since(seenAt) > silentMs || since(heardAt) > forgottenMs);
  if (isLost)
    return endTask(room, task, task.status === 'cancelling' ? 'cancelled' : 'failure', 'The runner was lost.');
  if (now - task.createdAt > room.settings.maxTaskMs) {
    await endTask(
      room,
      task,
      'cancelled',
      `The job ran longer than ${Math.round(room.settings.maxTaskMs / 60_000)} minutes.`,
    );
  }
}

async function endTask(room: CiDeps, { id, jobId }: TaskRow, status: FinalStatus, reason: string): Promise<void> {
  const job = await room.db.read.findOneByOrFail(jobSchema, { id: jobId });
  const loaded = await room.runs.load(job.runId);
  await changeRuns(room, async (tx, after) => {
    const task = await tx.manager.findOneByOrFail(taskSchema, { id });
    if (isFinal(task.status)) return;
    await tx.manager.update(taskSchema, { id }, { status, stoppedAt: tx.now });
    const board = await RunChanges.open(room, tx, after, job.runId);
    const row = board?.jobs.find((one) => one.taskId === id);
    if (board == null || row === undefined) return;
    board.change(row, { status, reason });
    await advanceJobs(room, tx, after, board, loaded);
  });
  room.reports.forget(id);
  room.logger.warn('ci.task_ended', { task: id, status, reason });
}

/** Jobs that nobody could take, and those that waited too long. */
async function sweepWaiting(room: CiDeps): Promise<void> {
  const now = room.clock.now();
  const { maxUnroutableMs, maxWaitMs } = room.settings;
  const old = (await groupWaitingJobs(room.db.read)).filter(
    (line) => now - line.waitingSince > Math.min(maxUnroutableMs, maxWaitMs),
  );
  if (old.length === 0) return;
  const finished = await finishedRunners(room.db.read, { isLogComplete: false });
  const runners = (await room.db.read.find(runnerSchema)).filter(({ id }) => !finished.has(id));
  for (const line of old) {
    const jobs = await room.db.read.findBy(jobSchema, { repositoryId: line.repositoryId, status: 'waiting' });
    const isRoutable = runners.some((runner) => mayTake(runner, line));
    for (const job of jobs.filter((one) => one.runsOn?.join() === line.labels.join())) {
      const waited = now - (job.waitingSince ?? now);
      if (!isRoutable && waited > maxUnroutableMs)
        await endWaiting(room, job, 'failure', `No runner has the labels ${line.labels.join(', ')}.`);
      else if (waited > maxWaitMs) await endWaiting(room, job, 'cancelled', 'No runner was free in time.');
    }
  }
}

async function endWaiting(room: CiDeps, { id, runId }: JobRow, status: FinalStatus, reason: string): Promise<void> {
  const loaded = await room.runs.load(runId);
  await changeRuns(room, async (tx, after) => {
    const board = await RunChanges.open(room, tx, after, runId);
    const row = board?.jobs.find((one) => one.id === id);
    if (board == null || row?.status !== 'waiting') return;
    board.change(row, { status, reason });
    await advanceJobs(room, tx, after, board, loaded);
  });
}

/** A runner that died after its last report never says that its log is complete. */
async function sealLogs(room: CiDeps): Promise<void> {
  const open = await room.db.read
    .createQueryBuilder(taskSchema, 't')
    .where('t.sealed_at IS NULL AND t.stopped_at IS NOT NULL AND t.stopped_at < :before', {
      before: room.clock.now() - sealAfterMs,
    })
    .limit(500)
    .getMany();
  for (const { id } of open) {
    await room.logs.inTurn(id, async (log) => {
      await room.db.write(({ manager, now }) =>
        manager.update(
          taskSchema,
          { id, sealedAt: IsNull() },
          { sealedAt: now, logRows: log.rows, logBytes: log.bytes },
        ),
      );
    });
    room.notifier.notify(logTopic(id));
  }
}

/** An ephemeral runner is gone once its one task is over and its log complete, not before. */
async function removeEphemeral(room: CiDeps): Promise<void> {
  const before = room.clock.now() - sealAfterMs;
  for (const runner of await room.db.read.findBy(runnerSchema, { ephemeral: true })) {
    const tasks = await room.db.read.findBy(taskSchema, { runnerId: runner.id });
    const isDone =
      tasks.length > 0 &&
      tasks.every((task) => task.stoppedAt !== null && task.sealedAt !== null && task.sealedAt < before);
    if (!isDone) continue;
    await room.db.write(({ manager }) => manager.delete(runnerSchema, { id: runner.id }));
    room.logger.info('runner.removed', { runner: runner.id, name: runner.name, why: 'its one task is done' });
  }
}
