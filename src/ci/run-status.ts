/**
 * The states of jobs, and of runs as the sum of their jobs (SPEC §3):
 * blocked → waiting → running → success | failure | cancelled | skipped
 * A running job that is being cancelled is `cancelling` until its runner is done.
 */
export type RunStatus = 'blocked' | 'waiting' | 'running' | 'cancelling' | FinalStatus;
export type FinalStatus = 'success' | 'failure' | 'cancelled' | 'skipped';

/**
 * Why a job is blocked: its run waits for another run, it has `needs`, `max-parallel` is reached, or its concurrency
 * group is taken.
 */
export type Hold = 'run' | 'needs' | 'parallel' | 'concurrency';

const finals: readonly RunStatus[] = ['success', 'failure', 'cancelled', 'skipped'];

export function isFinal(status: RunStatus): status is FinalStatus {
  return finals.includes(status);
}

/** Whether a run waits for a person to let it start. */
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

/** The status that dependent jobs see: a job with `continue-on-error` counts as a success. */
function countsAs({ status, continueOnError }: Ended): RunStatus {
  return status === 'failure' && continueOnError ? 'success' : status;
}

/** Precedence of job states in a run that was cancelled, and in every other one. */
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
 * The state of a run. A run without jobs has failed: its file could not be read. Jobs that `fail-fast` or a timeout
 * cancelled do not make a run with a failed job a cancelled one, nor one that is being cancelled while a runner
 * finishes them.
 * @param isCancelled whether the run itself was cancelled
 */
export function statusOfRun(jobs: readonly Ended[], { isCancelled }: { isCancelled: boolean }): RunStatus {
  const counted = jobs.map(countsAs);
  if (counted.length === 0) return 'failure';
  if (counted.every((status) => status === 'skipped')) return 'skipped';
  const present = (isCancelled ? precedenceWhenCancelled : precedence).find((status) => counted.includes(status));
  if (present === 'cancelling' && !isCancelled) return 'running';
  // Some jobs have ended and others have not begun: shown as running.
  if (
    (present === 'waiting' || present === 'blocked') &&
    counted.some((status) => status === 'success' || status === 'failure')
  )
    return 'running';
  return present ?? 'success';
}

/** The combined state of a job's matrix, for dependent jobs; null while some matrix jobs have not ended. */
export function statusOfMatrix(matrixJobs: readonly Ended[]): FinalStatus | null {
  const counted = matrixJobs.map(countsAs);
  if (!counted.every(isFinal)) return null;
  for (const status of ['failure', 'cancelled', 'success'] as const) if (counted.includes(status)) return status;
  return 'skipped';
}
