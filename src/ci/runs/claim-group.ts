import type { Tx } from '../../db/index.ts';
import type { CiRoom } from '../room.ts';
import type { Aftermath } from './aftermath.ts';
import { cancelJob, cancelJobs } from './cancel-jobs.ts';
import { JobBoard } from './job-board.ts';
import { groupMembers } from './release-group.ts';
import type { GroupMembers } from './release-group.ts';
import type { RunRow } from './run-schema.ts';
import type { SettledConcurrency } from './settle-job.ts';

/**
 * Asks for a place in a concurrency group. In each repository one run or job holds
 * a group and one waits for it; a newer one takes the place of the one that waits,
 * and with `cancel-in-progress` ends the one that holds it. What is replaced says by
 * whom.
 * @param run who asks, for itself or for one of its jobs; its own hold is no obstacle
 */
export async function claimGroup(
  room: Pick<CiRoom, 'presence' | 'repositories' | 'endings'>,
  tx: Tx,
  after: Aftermath,
  run: RunRow,
  { group, cancelInProgress, queue }: SettledConcurrency,
): Promise<'holding' | 'pending'> {
  const membersOf = (state: 'holding' | 'pending') =>
    groupMembers(tx, run.repositoryId, group, state).then((members) => others(members, run.id));
  if (queue === 'single') {
    await cancelMembers(
      room,
      tx,
      after,
      await membersOf('pending'),
      `Replaced by run ${run.number}, which waits for the group “${group}” now.`,
    );
  }
  if (cancelInProgress) {
    await cancelMembers(
      room,
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
  room: Pick<CiRoom, 'presence' | 'repositories' | 'endings'>,
  tx: Tx,
  after: Aftermath,
  { runs, jobs }: GroupMembers,
  reason: string,
): Promise<void> {
  for (const run of runs) {
    const board = await JobBoard.open(room, tx, after, run.id);
    if (board !== null) await cancelJobs(room, tx, board, { reason });
  }
  for (const job of jobs) {
    const board = await JobBoard.open(room, tx, after, job.runId);
    const row = board?.jobs.find((one) => one.id === job.id);
    if (board == null || row === undefined) continue;
    await cancelJob(room, tx, board, row, { reason });
    await board.save();
    // Others of that run may have needed it.
    after.toAdvance.add(job.runId);
  }
}
