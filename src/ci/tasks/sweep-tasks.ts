import { In, IsNull } from 'typeorm';
import { sweepEnvironments } from '../deployments/sweep-environments.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import { advanceJobs } from '../runs/advance-run.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { FinalStatus } from '../run-status.ts';
import { logTopic } from '../notifier-topics.ts';
import type { CiDeps } from '../deps.ts';
import { writeReports } from './report-task.ts';
import { releaseTask } from './release-task.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';
import { finishedRunners } from '../runners/finished-runners.ts';
import { endLostTask, endTask } from './end-task.ts';
import { mayTake, groupWaitingJobs } from '../task-queue/group-waiting-jobs.ts';
import type { WaitingGroup } from '../task-queue/group-waiting-jobs.ts';

/** Time in milliseconds in which a runner must confirm a task. */
const leaseMs = 60_000;
/** Timeout in milliseconds of a task whose runner is silent. */
const silentMs = 120_000;
/** Timeout in milliseconds of a task whose runner still polls but never reports it. */
const forgottenMs = 600_000;
/** Time in milliseconds after the end of a task during which log rows are accepted; then the log is complete. */
const sealAfterMs = 600_000;
/** Time in milliseconds after which an ephemeral runner that never had a task and is no longer seen is removed. */
const abandonedMs = 24 * 3_600_000;

/**
 * Handles timeouts of tasks and queued jobs: takes back unconfirmed tasks, ends lost runners and jobs that run or wait
 * too long, completes logs, removes ephemeral runners. Called every few seconds. Times count from the start of the
 * server at the earliest, because no runner could report while it was down.
 */
export async function sweepTasks(deps: CiDeps, startedAt: number): Promise<void> {
  await deps.presence.write(deps.db);
  await writeReports(deps);
  for (const task of await deps.db.read.findBy(taskSchema, { status: In(['running', 'cancelling']) })) {
    await sweepTask(deps, task, startedAt).catch((error: unknown) =>
      deps.logger.error('ci.sweep_failed', { task: task.id, error }),
    );
  }
  await sweepWaiting(deps);
  await sweepEnvironments(deps);
  await sealLogs(deps);
  await removeEphemeral(deps);
}

async function sweepTask(deps: CiDeps, task: TaskRow, startedAt: number): Promise<void> {
  const now = deps.clock.now();
  const since = (moment: number): number => now - Math.max(moment, startedAt);
  if (task.confirmedAt === null) {
    if (since(task.createdAt) > leaseMs) await releaseTask(deps, task.id, { countsAsLoss: true });
    return;
  }
  const runner = task.runnerId === null ? null : await deps.db.read.findOneBy(runnerSchema, { id: task.runnerId });
  const seenAt = runner === null ? 0 : (deps.presence.of(runner).lastSeenAt ?? 0);
  // The later of both times: a runner may now report to another node.
  const heardAt = Math.max(deps.reports.lastReportAt(task.id) ?? 0, task.reportedAt ?? task.confirmedAt);
  // A runner declares itself at start, and then no longer works on tasks that it reported before. A running one that
  // declares new labels reports again within seconds.
  const declaredAt = runner?.declaredAt ?? null;
  const hasRestarted = declaredAt !== null && declaredAt >= heardAt && since(declaredAt) > silentMs;
  const isLost =
    since(heardAt) > silentMs && (since(seenAt) > silentMs || hasRestarted || since(heardAt) > forgottenMs);
  if (isLost) return endLostTask(deps, task);
  if (now - task.createdAt > deps.settings.maxTaskMs) {
    await endTask(
      deps,
      task,
      'cancelled',
      `The job ran longer than ${Math.round(deps.settings.maxTaskMs / 60_000)} minutes.`,
    );
  }
}

/** Ends jobs without a matching runner, and jobs that have waited too long. */
async function sweepWaiting(deps: CiDeps): Promise<void> {
  const now = deps.clock.now();
  const { maxUnroutableMs, maxWaitMs } = deps.settings;
  const old = (await groupWaitingJobs(deps.db.read)).filter(
    (line) => now - line.waitingSince > Math.min(maxUnroutableMs, maxWaitMs),
  );
  if (old.length === 0) return;
  const finished = await finishedRunners(deps.db.read, { isLogComplete: false });
  const runners = (await deps.db.read.find(runnerSchema)).filter(({ id }) => !finished.has(id));
  for (const line of old) {
    const jobs = await waitingJobs(deps, line);
    const isRoutable = runners.some((runner) => mayTake(runner, line));
    for (const job of jobs.filter((one) => one.runsOn?.join() === line.labels.join())) {
      const waited = now - (job.waitingSince ?? now);
      if (!isRoutable && waited > maxUnroutableMs)
        await endWaiting(
          deps,
          job,
          'failure',
          `No runner${line.isTrusted ? '' : ' for code of people without write access'} has the labels ${line.labels.join(', ')}.`,
        );
      else if (waited > maxWaitMs) await endWaiting(deps, job, 'cancelled', 'No runner was free in time.');
    }
  }
}

function waitingJobs({ db }: CiDeps, { repositoryId, isTrusted }: WaitingGroup): Promise<JobRow[]> {
  return db.read
    .createQueryBuilder(jobSchema, 'j')
    .innerJoin('ci_runs', 'r', 'r.id = j.run_id')
    .where("j.repository_id = :repositoryId AND j.status = 'waiting'", { repositoryId })
    .andWhere('r.is_trusted = :isTrusted', { isTrusted: isTrusted ? 1 : 0 })
    .getMany();
}

async function endWaiting(deps: CiDeps, { id, runId }: JobRow, status: FinalStatus, reason: string): Promise<void> {
  const loaded = await deps.runs.load(runId);
  await changeRuns(deps, async (tx, after) => {
    const runChanges = await RunChanges.open(deps, tx, after, runId);
    const row = runChanges?.jobs.find((one) => one.id === id);
    if (runChanges == null || row?.status !== 'waiting') return;
    runChanges.change(row, { status, reason });
    await advanceJobs(deps, tx, after, runChanges, loaded);
  });
}

/** A runner that died after its last report never completes its log. */
async function sealLogs(deps: CiDeps): Promise<void> {
  const open = await deps.db.read
    .createQueryBuilder(taskSchema, 't')
    .where('t.sealed_at IS NULL AND t.stopped_at IS NOT NULL AND t.stopped_at < :before', {
      before: deps.clock.now() - sealAfterMs,
    })
    .limit(500)
    .getMany();
  for (const { id } of open) {
    await deps.logs.withLock(id, async (log) => {
      await deps.db.write(({ manager, now }) =>
        manager.update(
          taskSchema,
          { id, sealedAt: IsNull() },
          { sealedAt: now, logRows: log.rows, logBytes: log.bytes },
        ),
      );
    });
    deps.notifier.notify(logTopic(id));
  }
}

/** Removes an ephemeral runner once its task has ended and its log is complete, or after a day without a task. */
async function removeEphemeral(deps: CiDeps): Promise<void> {
  const before = deps.clock.now() - sealAfterMs;
  for (const runner of await deps.db.read.findBy(runnerSchema, { ephemeral: true })) {
    const tasks = await deps.db.read.findBy(taskSchema, { runnerId: runner.id });
    const { lastSeenAt } = deps.presence.of(runner);
    const isDone =
      tasks.length > 0 &&
      tasks.every((task) => task.stoppedAt !== null && task.sealedAt !== null && task.sealedAt < before);
    const isGone = tasks.length === 0 && lastSeenAt !== null && lastSeenAt < deps.clock.now() - abandonedMs;
    if (!isDone && !isGone) continue;
    await deps.db.write(({ manager }) => manager.delete(runnerSchema, { id: runner.id }));
    const why = isDone ? 'its one task is done' : 'it went without a task';
    deps.logger.info('runner.removed', { runner: runner.id, name: runner.name, why });
  }
}
