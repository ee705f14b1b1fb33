import type { Tx } from '../../db/index.ts';
import type { AfterCommit } from './after-commit.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

/** Runs and jobs of one concurrency group. */
export interface GroupMembers {
  runs: RunRow[];
  jobs: JobRow[];
}

/** Members of a repository's group in one state, oldest first. */
export async function concurrencyGroupMembers(
  { manager }: Tx,
  repositoryId: string,
  group: string,
  state: 'holding' | 'pending',
): Promise<GroupMembers> {
  const where = { repositoryId, concurrencyGroup: group, concurrencyState: state };
  const order = { createdAt: 'ASC', id: 'ASC' } as const;
  return {
    runs: await manager.find(runSchema, { where, order }),
    jobs: await manager.find(jobSchema, { where, order }),
  };
}

/** Gives a free group to the member that has waited longest; the caller must advance its run. */
export async function releaseConcurrencyGroup(
  tx: Tx,
  after: AfterCommit,
  repositoryId: string,
  group: string,
): Promise<void> {
  const holding = await concurrencyGroupMembers(tx, repositoryId, group, 'holding');
  if (holding.runs.length + holding.jobs.length > 0) return;
  const {
    runs: [run],
    jobs: [job],
  } = await concurrencyGroupMembers(tx, repositoryId, group, 'pending');
  if (run !== undefined && (job === undefined || run.createdAt <= job.createdAt)) {
    await tx.manager.update(runSchema, { id: run.id }, { concurrencyState: 'holding' });
    after.toAdvance.add(run.id);
  } else if (job !== undefined) {
    await tx.manager.update(jobSchema, { id: job.id }, { concurrencyState: 'holding' });
    after.toAdvance.add(job.runId);
  }
}
