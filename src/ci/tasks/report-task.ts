import { rows, rowsTable } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { advanceJobs } from '../runs/advance-run.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { LoadedRun } from '../load-run.ts';
import { isFinal } from '../run-status.ts';
import type { FinalStatus } from '../run-status.ts';
import { runTopic } from '../notifier-topics.ts';
import type { CiDeps } from '../deps.ts';
import { selectOutputs } from './select-outputs.ts';
import type { SelectedOutputs } from './select-outputs.ts';
import { outputSchema, stepSchema, taskSchema } from '../schema/task-schema.ts';
import type { StepRow, StepStatus, TaskRow, TaskStatus } from '../schema/task-schema.ts';

/** A runner's report on one step. Times are epoch milliseconds. */
interface StepReport {
  /** Position of the step, from 0. */
  id: number;
  result: FinalStatus | null;
  startedAt: number | null;
  stoppedAt: number | null;
  logIndex: number;
  logLength: number;
}

/** A runner's report on its task. */
export interface TaskReport {
  taskId: number;
  /** Null while the task runs. */
  result: FinalStatus | null;
  startedAt: number | null;
  stoppedAt: number | null;
  steps: readonly StepReport[];
  /** Only outputs that were not sent before. */
  outputs: ReadonlyMap<string, string>;
}

/** Response to a report: a final status tells the runner to stop. */
interface TaskVerdict {
  result: FinalStatus | null;
  /** Names of all outputs received so far. */
  sentOutputs: string[];
}

/**
 * Processes a report. The states of the task, its job, dependent jobs and the run change in one write. Reports after
 * the end change nothing and return the known state. A task that is being cancelled ends as cancelled, regardless of
 * the report. Throws `no_task_state`, `task_not_found` (also for another runner's).
 */
export async function reportTask(
  deps: CiDeps,
  runner: Pick<RunnerRow, 'id'>,
  report: TaskReport | null,
): Promise<TaskVerdict> {
  if (report === null) throw invalid('no_task_state', 'The report must contain the state of the task.');
  const task = await deps.db.read.findOneBy(taskSchema, { id: report.taskId, runnerId: runner.id });
  const job = task === null ? null : await deps.db.read.findOneBy(jobSchema, { id: task.jobId });
  if (task === null || job === null) throw notFound('task_not_found', 'There is no such task.');
  const known = await deps.db.read.findBy(outputSchema, { taskId: task.id });
  const names = known.map(({ name }) => name);
  if (isFinal(task.status)) return { result: task.status, sentOutputs: names };

  const outputs = selectOutputs(report.outputs, known);
  const loaded = await deps.runs.load(job.runId);
  const steps = await mergeSteps(deps, task, loaded, job.jobKey, report.steps);
  const isNews =
    report.result !== null ||
    task.confirmedAt === null ||
    steps.isNews ||
    outputs.stored.size > 0 ||
    outputs.notices.length > 0;
  const now = deps.clock.now();
  deps.reports.record(task.id, now, steps.rows, false);
  const status = isNews ? await save(deps, task, report, steps, outputs, loaded) : task.status;
  if (steps.isNews) deps.notifier.notify(runTopic(job.runId));
  return {
    result: status === 'running' ? null : status === 'cancelling' ? 'cancelled' : status,
    sentOutputs: [...new Set([...names, ...outputs.stored.keys(), ...outputs.dropped])],
  };
}

async function save(
  deps: CiDeps,
  { id }: TaskRow,
  report: TaskReport,
  steps: MergedSteps,
  outputs: SelectedOutputs,
  loaded: LoadedRun,
): Promise<TaskStatus> {
  const status = await changeRuns(deps, async (tx, after) => {
    const task = await tx.manager.findOneBy(taskSchema, { id });
    // The task was taken back or ended before the report arrived.
    if (task === null || isFinal(task.status)) return task?.status ?? 'cancelled';
    const ended = report.result === null ? null : task.status === 'cancelling' ? 'cancelled' : report.result;
    await tx.manager.update(
      taskSchema,
      { id },
      {
        status: ended ?? task.status,
        confirmedAt: task.confirmedAt ?? tx.now,
        reportedAt: tx.now,
        startedAt: report.startedAt ?? task.startedAt,
        stoppedAt: ended === null ? null : (report.stoppedAt ?? tx.now),
        notices: [...task.notices, ...outputs.notices].slice(0, 50),
      },
    );
    await saveSteps(tx, steps);
    for (const [name, value] of outputs.stored) await tx.manager.insert(outputSchema, { taskId: id, name, value });
    if (ended === null) return task.status;
    const runChanges = await RunChanges.open(deps, tx, after, loaded.run.id);
    const row = runChanges?.jobs.find((one) => one.taskId === id);
    if (runChanges == null || row === undefined) return ended;
    runChanges.change(row, { status: ended });
    await advanceJobs(deps, tx, after, runChanges, loaded);
    return ended;
  });
  if (isFinal(status)) deps.reports.forget(id);
  else deps.reports.record(id, deps.clock.now(), steps.rows, true);
  return status;
}

interface MergedSteps {
  rows: StepRow[];
  /** Whether the steps have no rows yet. */
  areNew: boolean;
  /** Whether a step has started or ended; growth of its log does not count. */
  isNews: boolean;
}

/** Merges reported into known steps. Reports of unknown steps are ignored. */
async function mergeSteps(
  deps: CiDeps,
  task: TaskRow,
  { parsed }: LoadedRun,
  jobKey: string,
  reports: readonly StepReport[],
): Promise<MergedSteps> {
  const stored = await deps.db.read.find(stepSchema, { where: { taskId: task.id }, order: { position: 'ASC' } });
  const names = parsed.ok ? (parsed.workflow.jobs.get(jobKey)?.stepNames ?? []) : [];
  const rows = stored.length > 0 ? stored : names.map((name, position) => emptyStep(task.id, position, name));
  const byId = new Map(reports.map((report) => [report.id, report]));
  let isNews = false;
  const merged = rows.map((row) => {
    const report = byId.get(row.position);
    if (report === undefined) return row;
    const { result, startedAt, stoppedAt, logIndex, logLength } = report;
    const status: StepStatus = result ?? (startedAt === null ? 'waiting' : 'running');
    isNews ||= status !== row.status;
    return { ...row, status, startedAt, stoppedAt, logIndex, logLength };
  });
  return { rows: merged, areNew: stored.length === 0, isNews };
}

function emptyStep(taskId: number, position: number, name: string): StepRow {
  return {
    taskId,
    position,
    name: name.slice(0, 255),
    status: 'waiting',
    startedAt: null,
    stoppedAt: null,
    logIndex: 0,
    logLength: 0,
  };
}

async function saveSteps({ manager }: Tx, { rows, areNew }: MergedSteps): Promise<void> {
  if (areNew) {
    for (let start = 0; start < rows.length; start += 100)
      await manager.insert(stepSchema, rows.slice(start, start + 100));
    return;
  }
  for (const { taskId, position, ...row } of rows) await manager.update(stepSchema, { taskId, position }, row);
}

const longAgoMs = 3_600_000;

/** Lets other nodes that share the database see that a runner which reports to this one is alive. */
async function writeReportTimes({ clock, db, reports }: Pick<CiDeps, 'clock' | 'db' | 'reports'>): Promise<void> {
  if (db.node === null) return;
  const times = reports.drainTimes(clock.now() - longAgoMs);
  if (times.length === 0) return;
  await db.write(
    ({ manager }) =>
      rows(
        manager,
        `UPDATE ci_tasks SET reported_at = list.at FROM ${rowsTable({ id: 'bigint', at: 'bigint' })}
          WHERE ci_tasks.id = list.id AND coalesce(ci_tasks.reported_at, 0) < list.at`,
        [JSON.stringify(times)],
      ),
    { durable: 'with-the-next' },
  );
}

/** Flushes the log lengths of steps to the database; called occasionally. */
export async function writeReports(deps: Pick<CiDeps, 'clock' | 'db' | 'reports'>): Promise<void> {
  const { db, reports } = deps;
  await writeReportTimes(deps);
  const steps = reports.drainUnwritten();
  if (steps.length === 0) return;
  await db.write(async ({ manager }) => {
    for (const { taskId, position, logIndex, logLength } of steps)
      await manager.update(stepSchema, { taskId, position }, { logIndex, logLength });
  });
}
