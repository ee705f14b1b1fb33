import { IsNull } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import type { AfterCommit } from '../runs/after-commit.ts';
import { cancelJobs } from '../runs/cancel-jobs.ts';
import { statusCommitOf } from '../runs/job-commit-status.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

/** Identifies a pull request. */
export interface PullAt {
  repositoryId: string;
  number: number;
}

/** Name of the ref of the tested commit. */
export const mergeRefOf = (number: number): string => `refs/pull/${number}/merge`;

/** Number of the pull request of a run; null for other runs. */
export function pullNumberOf({ event, ref }: Pick<RunRow, 'event' | 'ref'>): number | null {
  const number = event === 'pull_request' ? /^refs\/pull\/(\d+)\/merge$/.exec(ref)?.[1] : undefined;
  return number === undefined ? null : Number(number);
}

/** Runs of a pull request that wait for approval, oldest first. */
export function runsAwaitingApproval(manager: EntityManager, { repositoryId, number }: PullAt): Promise<RunRow[]> {
  return manager.find(runSchema, {
    where: { repositoryId, ref: mergeRefOf(number), approval: 'waiting', finishedAt: IsNull() },
    order: { number: 'ASC' },
  });
}

const maxRemembered = 50;

/** Whether this head was already approved for the same base branch: pull requests are closed and reopened. */
export async function isHeadApproved(
  { db }: Pick<CiDeps, 'db'>,
  { repositoryId, number }: PullAt,
  head: { oid: string; baseBranch: string },
): Promise<boolean> {
  const approved = await db.read.find(runSchema, {
    where: { repositoryId, ref: mergeRefOf(number), approval: 'approved' },
    order: { number: 'DESC' },
    take: maxRemembered,
  });
  return approved.some((run) => statusCommitOf(run) === head.oid && baseBranchOf(run) === head.baseBranch);
}

const baseBranchOf = ({ eventPayload }: RunRow): string =>
  (eventPayload['pull_request'] as { base: { ref: string } }).base.ref;

/** Ends runs that wait for approval and whose code is outdated. @param paths workflows; null for all */
export async function cancelRunsAwaitingApproval(
  deps: CiDeps,
  tx: Tx,
  after: AfterCommit,
  place: PullAt,
  { reason, paths }: { reason: string; paths: readonly string[] | null },
): Promise<void> {
  for (const { id, workflowPath } of await runsAwaitingApproval(tx.manager, place)) {
    if (paths !== null && !paths.includes(workflowPath)) continue;
    const runChanges = await RunChanges.open(deps, tx, after, id);
    if (runChanges !== null) await cancelJobs(deps, tx, runChanges, { reason });
  }
}
