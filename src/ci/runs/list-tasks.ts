import { In } from 'typeorm';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { RunStatus } from '../run-status.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';

/** A task of a runner with its job and run. */
interface ListedTask {
  task: TaskRow;
  job: JobRow;
  run: RunRow;
}

/** Limit of counting: a repository may have a hundred thousand tasks. */
const maxCounted = 10_000;

/** Returns the tasks of a repository, newest job first, and their number up to ten thousand. */
export async function listTasks(
  { db }: Pick<CiDeps, 'db'>,
  { repository }: Pick<Found, 'repository'>,
  { limit, skip }: { limit: number; skip: number },
): Promise<{ tasks: ListedTask[]; total: number }> {
  // A job carried over to a later attempt keeps the task of the earlier one.
  const query = () =>
    db.read
      .createQueryBuilder(jobSchema, 'j')
      .innerJoin('ci_tasks', 't', 't.id = j.task_id AND t.job_id = j.id')
      .select('j.id', 'id')
      .where('j.repository_id = :id', { id: repository.id });
  const page = await query().orderBy('j.id', 'DESC').offset(skip).limit(limit).getRawMany<{ id: number }>();
  const total = (await query().limit(maxCounted).getRawMany()).length;
  if (page.length === 0) return { tasks: [], total };
  const jobs = await db.read.findBy(jobSchema, { id: In(page.map(({ id }) => id)) });
  const tasks = await db.read.findBy(taskSchema, { id: In(jobs.map(({ taskId }) => taskId)) });
  const runs = await db.read.findBy(runSchema, { id: In([...new Set(jobs.map(({ runId }) => runId))]) });
  const taskOf = new Map(tasks.map((task) => [task.id, task]));
  const runOf = new Map(runs.map((run) => [run.id, run]));
  jobs.sort((a, b) => b.id - a.id);
  return {
    tasks: jobs.map((job) => ({ job, task: taskOf.get(job.taskId!)!, run: runOf.get(job.runId)! })),
    total,
  };
}

/** Returns the jobs of a repository with their runs, newest first, and their number up to ten thousand. */
export async function pageOfJobs(
  { db }: Pick<CiDeps, 'db'>,
  { repository }: Pick<Found, 'repository'>,
  statuses: readonly RunStatus[] | undefined,
  { limit, skip }: { limit: number; skip: number },
): Promise<{ jobs: { job: JobRow; run: RunRow }[]; total: number }> {
  const query = () => {
    const all = db.read
      .createQueryBuilder(jobSchema, 'j')
      .select('j.id', 'id')
      .where('j.repository_id = :id', { id: repository.id });
    return statuses === undefined ? all : all.andWhere('j.status IN (:...statuses)', { statuses });
  };
  const page = await query().orderBy('j.id', 'DESC').offset(skip).limit(limit).getRawMany<{ id: number }>();
  const total = (await query().limit(maxCounted).getRawMany()).length;
  const jobs = await db.read.findBy(jobSchema, { id: In(page.map(({ id }) => id)) });
  const runs = await db.read.findBy(runSchema, { id: In([...new Set(jobs.map(({ runId }) => runId))]) });
  const runOf = new Map(runs.map((run) => [run.id, run]));
  return {
    jobs: jobs.sort((a, b) => b.id - a.id).map((job) => ({ job, run: runOf.get(job.runId)! })),
    total,
  };
}
