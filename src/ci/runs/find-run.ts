import { In } from 'typeorm';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { stepSchema, taskSchema } from '../schema/task-schema.ts';
import type { StepRow, TaskRow } from '../schema/task-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runNotFound } from '../load-run.ts';
import { isFinal } from '../run-status.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

type Deps = Pick<CiDeps, 'db' | 'reports'>;

/** A run of a repository by its number. Throws `run_not_found`. */
export async function findRunRow(
  { db }: Pick<Deps, 'db'>,
  found: Pick<Found, 'repository'>,
  number: number,
): Promise<RunRow> {
  const run = await db.read.findOneBy(runSchema, { repositoryId: found.repository.id, number });
  if (run === null) throw runNotFound();
  return run;
}

/** A run of a repository by its id. Throws `run_not_found`. */
export async function runById(
  { db }: Pick<Deps, 'db'>,
  { repository }: Pick<Found, 'repository'>,
  id: number,
): Promise<RunRow> {
  const run = await db.read.findOneBy(runSchema, { id, repositoryId: repository.id });
  if (run === null) throw runNotFound();
  return run;
}

/** A run with the jobs of one of its attempts. */
interface RunWithJobs {
  run: RunRow;
  attempt: number;
  /** In the order of the file. */
  jobs: JobRow[];
}

/**
 * Returns a run and the jobs of one attempt, by default the newest. Throws `run_not_found`, also if there is no such
 * attempt.
 */
export async function findRun(
  deps: Deps,
  found: Pick<Found, 'repository'>,
  number: number,
  attempt?: number,
): Promise<RunWithJobs> {
  const run = await findRunRow(deps, found, number);
  const shown = attempt ?? run.attempt;
  if (shown < 1 || shown > run.attempt) throw runNotFound();
  const jobs = await deps.db.read.find(jobSchema, {
    where: { runId: run.id, attempt: shown },
    order: { position: 'ASC', id: 'ASC' },
  });
  return { run, attempt: shown, jobs };
}

/** One job of a run, with the task that ran it. */
interface JobWithTask {
  run: RunRow;
  job: JobRow;
  task: TaskRow | null;
  steps: StepRow[];
}

/** Throws `run_not_found`, also for a job of another run. */
export async function findJob(
  deps: Deps,
  found: Pick<Found, 'repository'>,
  number: number,
  jobId: number,
): Promise<JobWithTask> {
  const run = await findRunRow(deps, found, number);
  const job = await deps.db.read.findOneBy(jobSchema, { id: jobId, runId: run.id });
  if (job === null) throw runNotFound();
  const task = job.taskId === null ? null : await deps.db.read.findOneBy(taskSchema, { id: job.taskId });
  const steps = task === null ? [] : await stepsOf(deps, [task.id]);
  return { run, job, task, steps: task === null ? [] : steps.map((step) => endedWith(task, step)) };
}

/** Finds a job of a repository by its id, with its run and task. Throws `run_not_found`. */
export async function findJobById(deps: Deps, found: Pick<Found, 'repository'>, jobId: number): Promise<JobWithTask> {
  const job = await deps.db.read.findOneBy(jobSchema, { id: jobId, repositoryId: found.repository.id });
  const run = job === null ? null : await deps.db.read.findOneBy(runSchema, { id: job.runId });
  if (job === null || run === null) throw runNotFound();
  return findJob(deps, found, run.number, job.id);
}

/** Steps and runners of some jobs, by task. */
export async function tasksOf(
  deps: Deps,
  jobs: readonly JobRow[],
): Promise<Map<number, { task: TaskRow; steps: StepRow[] }>> {
  const ids = jobs.flatMap(({ taskId }) => taskId ?? []);
  if (ids.length === 0) return new Map();
  const tasks = await deps.db.read.findBy(taskSchema, { id: In(ids) });
  const steps = Map.groupBy(await stepsOf(deps, ids), ({ taskId }) => taskId);
  return new Map(
    tasks.map((task) => [task.id, { task, steps: (steps.get(task.id) ?? []).map((step) => endedWith(task, step)) }]),
  );
}

/**
 * The attempts in which some jobs of a run were executed: a later attempt has copies of the jobs that it does not
 * repeat.
 */
export async function firstAttemptsOf({ db }: Pick<Deps, 'db'>, jobs: readonly JobRow[]): Promise<Map<number, number>> {
  const [first] = jobs;
  if (first === undefined) return new Map();
  const rows = await db.read.find(jobSchema, { where: { runId: first.runId }, order: { attempt: 'ASC' } });
  // A copy keeps its creation time; a re-run job has a new one.
  const keyOf = ({ jobKey, position, createdAt, taskId }: JobRow): string =>
    `${jobKey} ${position} ${createdAt} ${taskId}`;
  const firsts = new Map(rows.reverse().map((row) => [keyOf(row), row.attempt]));
  return new Map(jobs.map((job) => [job.id, firsts.get(keyOf(job)) ?? job.attempt]));
}

/** Names of the runners that executed some jobs, by task. */
export async function runnersOf({ db }: Pick<Deps, 'db'>, jobs: readonly JobRow[]): Promise<Map<number, string>> {
  const taskIds = jobs.flatMap(({ taskId }) => taskId ?? []);
  if (taskIds.length === 0) return new Map();
  const tasks = await db.read.find(taskSchema, { where: { id: In(taskIds) }, select: { id: true, runnerName: true } });
  return new Map(tasks.map(({ id, runnerName }) => [id, runnerName]));
}

/** Names of the steps of some tasks, by task and position: `12 0`. */
export async function stepNames({ db }: Pick<Deps, 'db'>, taskIds: readonly number[]): Promise<Map<string, string>> {
  const steps = await db.read.findBy(stepSchema, { taskId: In([...taskIds]) });
  return new Map(steps.map(({ taskId, position, name }) => [`${taskId} ${position}`, name]));
}

/** If the server ended a task, its current step has no reported end. */
function endedWith(task: TaskRow, step: StepRow): StepRow {
  if (!isFinal(task.status) || (step.status !== 'running' && step.status !== 'waiting')) return step;
  return step.status === 'running'
    ? { ...step, status: 'cancelled', stoppedAt: task.stoppedAt }
    : { ...step, status: 'skipped' };
}

/** The steps of some tasks, in order, including what their runners have reported since the last write. */
async function stepsOf({ db, reports }: Deps, taskIds: readonly number[]): Promise<StepRow[]> {
  const rows = await db.read.find(stepSchema, {
    where: { taskId: In([...taskIds]) },
    order: { taskId: 'ASC', position: 'ASC' },
  });
  const newer = new Map(
    taskIds.flatMap((id) => reports.unwritten(id)).map((step) => [`${step.taskId} ${step.position}`, step]),
  );
  return rows.map((row) => newer.get(`${row.taskId} ${row.position}`) ?? row);
}
