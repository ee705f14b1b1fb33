/**
 * States of jobs, and of runs as the combination of their jobs (SPEC §3):
 *
 * blocked → waiting → running → success | failure | cancelled | skipped
 *
 * A running job that is being cancelled is `cancelling` until its runner stops.
 */
export type RunStatus = 'blocked' | 'waiting' | 'running' | 'cancelling' | FinalStatus;
export type FinalStatus = 'success' | 'failure' | 'cancelled' | 'skipped';

/**
 * Why a job is blocked: its run waits for another run, its `needs` have not ended, `max-parallel` is reached, or its
 * concurrency group is taken.
 */
export type Hold = 'run' | 'needs' | 'parallel' | 'concurrency';

const finals: readonly RunStatus[] = ['success', 'failure', 'cancelled', 'skipped'];

export function isFinal(status: RunStatus): status is FinalStatus {
  return finals.includes(status);
}

/** Whether a run waits for approval. */
export const awaitsApproval = ({
  approval,
  status,
}: {
  approval: 'waiting' | 'approved' | null;
  status: RunStatus;
}): boolean => approval === 'waiting' && !isFinal(status);

/** Whether a runner has the job. */
export function isRunning(status: RunStatus): boolean {
  return status === 'running' || status === 'cancelling';
}

interface Ended {
  status: RunStatus;
  continueOnError: boolean;
}

/** The status that dependent jobs see: with `continue-on-error` a failed job counts as successful. */
function countsAs({ status, continueOnError }: Ended): RunStatus {
  return status === 'failure' && continueOnError ? 'success' : status;
}

/** Precedence of job states in a cancelled run, and in all others. */
const precedenceWhenCancelled: readonly RunStatus[] = [
  'cancelling',
  'running',
  'waiting',
  'blocked',
  'cancelled',
  'failure',
];
const precedence: readonly RunStatus[] = ['running', 'cancelling', 'waiting', 'blocked', 'failure', 'cancelled'];

/**
 * The state of a run. A run without jobs has failed, because its file could not be read. A run with a failed job counts
 * as failed, even if `fail-fast` or a timeout cancelled other jobs or a runner is still stopping them.
 * @param isCancelled whether the run itself was cancelled
 */
export function statusOfRun(jobs: readonly Ended[], { isCancelled }: { isCancelled: boolean }): RunStatus {
  const counted = jobs.map(countsAs);
  if (counted.length === 0) return 'failure';
  if (counted.every((status) => status === 'skipped')) return 'skipped';
  const present = (isCancelled ? precedenceWhenCancelled : precedence).find((status) => counted.includes(status));
  if (present === 'cancelling' && !isCancelled) return 'running';
  // Shown as running if some jobs have ended and others have not started.
  if (
    (present === 'waiting' || present === 'blocked') &&
    counted.some((status) => status === 'success' || status === 'failure')
  )
    return 'running';
  return present ?? 'success';
}

/** The combined state of the matrix of a job, for dependent jobs; null until all its jobs have ended. */
export function statusOfMatrix(matrixJobs: readonly Ended[]): FinalStatus | null {
  const counted = matrixJobs.map(countsAs);
  if (!counted.every(isFinal)) return null;
  for (const status of ['failure', 'cancelled', 'success'] as const) if (counted.includes(status)) return status;
  return 'skipped';
}
