import { In } from 'typeorm';
import type { EntityManager, SelectQueryBuilder } from 'typeorm';
import type { CiDeps } from '../deps.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { TaskRow, TaskStatus } from '../schema/task-schema.ts';
import type { CiScope } from '../scope.ts';

/** A current or past job of a runner. */
export interface RunnerTask {
  taskId: number;
  runnerId: number;
  status: TaskStatus;
  createdAt: number;
  startedAt: number | null;
  stoppedAt: number | null;
  jobId: number;
  jobName: string;
  runNumber: number;
  workflowName: string;
  repositoryId: string;
}

const open = ['running', 'cancelling'] as const;

/** Ids of the runners that have a task. */
export async function busyRunners(manager: EntityManager): Promise<Set<number>> {
  const tasks = await manager.find(taskSchema, {
    where: { status: In([...open]) },
    select: { id: true, runnerId: true },
  });
  return new Set(tasks.flatMap(({ runnerId }) => runnerId ?? []));
}

function tasksWithJobs(manager: EntityManager): SelectQueryBuilder<TaskRow> {
  return manager
    .createQueryBuilder(taskSchema, 't')
    .innerJoin('ci_jobs', 'j', 'j.id = t.job_id')
    .innerJoin('ci_runs', 'r', 'r.id = j.run_id')
    .innerJoin('repositories', 'p', 'p.id = r.repository_id AND p.deleted_at IS NULL')
    .select('t.id', 'taskId')
    .addSelect('t.runner_id', 'runnerId')
    .addSelect('t.status', 'status')
    .addSelect('t.created_at', 'createdAt')
    .addSelect('t.started_at', 'startedAt')
    .addSelect('t.stopped_at', 'stoppedAt')
    .addSelect('j.id', 'jobId')
    .addSelect('j.name', 'jobName')
    .addSelect('r.number', 'runNumber')
    .addSelect('r.workflow_name', 'workflowName')
    .addSelect('r.repository_id', 'repositoryId');
}

/** The current jobs of some runners, oldest first. */
export async function runningTasks({ db }: Pick<CiDeps, 'db'>, runnerIds: readonly number[]): Promise<RunnerTask[]> {
  if (runnerIds.length === 0) return [];
  const tasks = await tasksWithJobs(db.read)
    .where('t.status IN (:...open)', { open })
    .andWhere('t.runner_id IN (:...runnerIds)', { runnerIds })
    .getRawMany<RunnerTask>();
  return tasks.sort((a, b) => a.taskId - b.taskId);
}

const owning = { user: 'owner_user_id', organisation: 'owner_org_id', repository: 'id' } as const;

/**
 * The jobs of a runner, newest first, without repositories in the trash. For a scope, only repositories that currently
 * belong to it: a transferred one is another owner's.
 * @param before id of a task: only older ones
 */
export async function tasksOfRunner(
  { db }: Pick<CiDeps, 'db'>,
  runner: { id: number; scope: CiScope },
  { limit, before }: { limit: number; before: number | null },
): Promise<{ tasks: RunnerTask[]; next: number | null }> {
  const { id, scope } = runner;
  const query = tasksWithJobs(db.read).where('t.runner_id = :id', { id });
  if (before !== null) query.andWhere('t.id < :before', { before });
  if (scope.kind !== 'instance') query.andWhere(`p.${owning[scope.kind]} = :owner`, { owner: scope.id });
  const tasks = await query
    .orderBy('t.id', 'DESC')
    .limit(limit + 1)
    .getRawMany<RunnerTask>();
  return { tasks: tasks.slice(0, limit), next: tasks.length > limit ? tasks[limit - 1]!.taskId : null };
}
