import type { EntityManager } from 'typeorm';
import { hasLabels } from '../runner-model/runner.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';

/**
 * Waiting jobs of one repository with the same labels and the same trust: one group of the queue, regardless of their
 * number.
 */
export interface WaitingGroup {
  repositoryId: string;
  ownerUserId: string | null;
  ownerOrganisationId: string | null;
  labels: string[];
  isTrusted: boolean;
  /** The job that has waited longest, and the start of its wait. */
  firstJobId: number;
  waitingSince: number;
  count: number;
}

interface RawGroup {
  repositoryId: string;
  ownerUserId: string | null;
  ownerOrganisationId: string | null;
  labels: string;
  isTrusted: number;
  firstJobId: number;
  waitingSince: number;
  count: number;
}

/**
 * All groups of the queue, without jobs of repositories in the trash.
 * @param jobId null for all jobs, or the only one that is grouped
 */
export async function groupWaitingJobs(manager: EntityManager, jobId: number | null = null): Promise<WaitingGroup[]> {
  const query = manager
    .createQueryBuilder(jobSchema, 'j')
    .innerJoin('repositories', 'r', 'r.id = j.repository_id')
    .innerJoin('ci_runs', 'c', 'c.id = j.run_id')
    .select('j.repository_id', 'repositoryId')
    .addSelect('r.owner_user_id', 'ownerUserId')
    .addSelect('r.owner_org_id', 'ownerOrganisationId')
    .addSelect('j.runs_on', 'labels')
    .addSelect('c.is_trusted', 'isTrusted')
    .addSelect('MIN(j.id)', 'firstJobId')
    .addSelect('MIN(j.waiting_since)', 'waitingSince')
    .addSelect('COUNT(*)', 'count')
    .where("j.status = 'waiting' AND j.task_id IS NULL AND r.deleted_at IS NULL");
  if (jobId !== null) query.andWhere('j.id = :jobId', { jobId });
  const rows = await query
    .groupBy('j.repository_id')
    .addGroupBy('r.owner_user_id')
    .addGroupBy('r.owner_org_id')
    .addGroupBy('j.runs_on')
    .addGroupBy('c.is_trusted')
    .getRawMany<RawGroup>();
  return rows.map((row) => ({ ...row, labels: JSON.parse(row.labels) as string[], isTrusted: row.isTrusted === 1 }));
}

type TaskRunner = Pick<RunnerRow, 'userId' | 'organisationId' | 'repositoryId' | 'labels' | 'trustedOnly'>;

/**
 * Whether a runner may take the jobs of a group: its scope covers the repository, it has all labels, and the code is
 * trusted if the runner requires that.
 */
export function mayTake(
  runner: TaskRunner,
  line: Pick<WaitingGroup, 'repositoryId' | 'ownerUserId' | 'ownerOrganisationId' | 'labels' | 'isTrusted'>,
): boolean {
  const reaches =
    runner.repositoryId !== null
      ? runner.repositoryId === line.repositoryId
      : runner.organisationId !== null
        ? runner.organisationId === line.ownerOrganisationId
        : runner.userId !== null
          ? runner.userId === line.ownerUserId
          : true;
  return reaches && (line.isTrusted || !runner.trustedOnly) && hasLabels(runner, line.labels);
}
