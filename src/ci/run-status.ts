/**
 * The states of jobs, and of runs as the sum of their jobs. SPEC §3 leaves the
 * transitions open; these are ours:
 *
 * blocked → waiting → running → success | failure | cancelled | skipped
 *
 * A running job that is being cancelled is `cancelling` until its runner is done.
 */
export type RunStatus = 'blocked' | 'waiting' | 'running' | 'cancelling' | FinalStatus;
export type FinalStatus = 'success' | 'failure' | 'cancelled' | 'skipped';

/** Why a job is blocked: its run waits for another, it needs others, enough of its kind run, its group is taken. */
export type Hold = 'run' | 'needs' | 'parallel' | 'concurrency';

const finals: readonly RunStatus[] = ['success', 'failure', 'cancelled', 'skipped'];

export function isFinal(status: RunStatus): status is FinalStatus {
  return finals.includes(status);
}

/** Whether a runner has the job. */
export function isRunning(status: RunStatus): boolean {
  return status === 'running' || status === 'cancelling';
}

interface Ended {
  status: RunStatus;
  continueOnError: boolean;
}

/** How a job counts for those after it: one that may fail has gone well. */
export function countsAs({ status, continueOnError }: Ended): RunStatus {
  return status === 'failure' && continueOnError ? 'success' : status;
}

/** What decides about a run that somebody has cancelled, and about every other one. */
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
 * The state of a run. A run with nothing in it has failed: its file could not be read.
 * Jobs that `fail-fast` or a clock cancelled do not make a run with a failed job one
 * that was cancelled, nor one that is being cancelled while a runner winds them up.
 * @param isCancelled whether somebody has cancelled the run itself
 */
export function statusOfRun(jobs: readonly Ended[], { isCancelled }: { isCancelled: boolean }): RunStatus {
  const counted = jobs.map(countsAs);
  if (counted.length === 0) return 'failure';
  if (counted.every((status) => status === 'skipped')) return 'skipped';
  const present = (isCancelled ? precedenceWhenCancelled : precedence).find((status) => counted.includes(status));
  if (present === 'cancelling' && !isCancelled) return 'running';
  // Some are done and others have not begun: to a person that is running.
  if (
    (present === 'waiting' || present === 'blocked') &&
    counted.some((status) => status === 'success' || status === 'failure')
  )
    return 'running';
  return present ?? 'success';
}

/** The state of all legs of one job together, for those that need it; null while some are still to end. */
export function statusOfMatrix(legs: readonly Ended[]): FinalStatus | null {
  const counted = legs.map(countsAs);
  if (!counted.every(isFinal)) return null;
  for (const status of ['failure', 'cancelled', 'success'] as const) if (counted.includes(status)) return status;
  return 'skipped';
}
