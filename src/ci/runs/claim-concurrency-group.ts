import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import type { AfterCommit } from './after-commit.ts';
import { cancelJob, cancelJobs } from './cancel-jobs.ts';
import { RunChanges } from './run-changes.ts';
import { concurrencyGroupMembers } from './release-concurrency-group.ts';
import type { GroupMembers } from './release-concurrency-group.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { ResolvedConcurrency } from './resolve-job.ts';

/**
 * Internal name of the concurrency group of a run or job; names ignore case, as on GitHub. Untrusted code has separate
 * groups: it chooses their names, and could otherwise cancel runs of branches.
 */
export const concurrencyGroupOf = ({ isTrusted, ref }: Pick<RunRow, 'isTrusted' | 'ref'>, group: string): string =>
  (isTrusted ? group : `untrusted ${ref}: ${group}`).toLowerCase();

/**
 * Claims a place in a concurrency group. In each repository one run or job holds a group and one waits for it. A newer
 * claim replaces the waiting one, which records its replacement; with `cancel-in-progress` it also cancels the holder.
 * @param run the claiming run, for itself or for one of its jobs; its own hold does not block it
 */
export async function claimConcurrencyGroup(
  deps: Pick<CiDeps, 'presence' | 'repositories' | 'endings' | 'deploymentListeners' | 'reviewListeners'>,
  tx: Tx,
  after: AfterCommit,
  run: RunRow,
  { group, cancelInProgress, queue }: ResolvedConcurrency,
): Promise<'holding' | 'pending'> {
  const membersOf = (state: 'holding' | 'pending') =>
    concurrencyGroupMembers(tx, run.repositoryId, group, state).then((members) => others(members, run.id));
  if (queue === 'single') {
    await cancelMembers(
      deps,
      tx,
      after,
      await membersOf('pending'),
      `Replaced by run ${run.number}, which waits for the group “${group}” now.`,
    );
  }
  if (cancelInProgress) {
    await cancelMembers(
      deps,
      tx,
      after,
      await membersOf('holding'),
      `Cancelled for run ${run.number} of the group “${group}”.`,
    );
  }
  const holding = await membersOf('holding');
  const pending = await membersOf('pending');
  return [holding, pending].some(({ runs, jobs }) => runs.length + jobs.length > 0) ? 'pending' : 'holding';
}

function others({ runs, jobs }: GroupMembers, runId: number): GroupMembers {
  return { runs: runs.filter((run) => run.id !== runId), jobs: jobs.filter((job) => job.runId !== runId) };
}

async function cancelMembers(
  deps: Pick<CiDeps, 'presence' | 'repositories' | 'endings' | 'deploymentListeners' | 'reviewListeners'>,
  tx: Tx,
  after: AfterCommit,
  { runs, jobs }: GroupMembers,
  reason: string,
): Promise<void> {
  for (const run of runs) {
    const runChanges = await RunChanges.open(deps, tx, after, run.id);
    if (runChanges !== null) await cancelJobs(deps, tx, runChanges, { reason });
  }
  for (const job of jobs) {
    const runChanges = await RunChanges.open(deps, tx, after, job.runId);
    const row = runChanges?.jobs.find((one) => one.id === job.id);
    if (runChanges == null || row === undefined) continue;
    await cancelJob(deps, tx, runChanges, row, { reason });
    await runChanges.save();
    // Other jobs of that run may need it.
    after.toAdvance.add(job.runId);
  }
}
