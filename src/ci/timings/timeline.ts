import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { findRun, firstAttemptsOf, tasksOf } from '../runs/find-run.ts';
import { isFinal } from '../run-status.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { StepRow } from '../schema/task-schema.ts';

/** A stretch of the time axis of a run, in milliseconds from its beginning. */
interface Span {
  fromMs: number;
  toMs: number;
}

interface TimedStep {
  name: string;
  status: StepRow['status'];
  /** Null for a step that did not run. */
  span: Span | null;
}

interface TimedJob {
  job: JobRow;
  /** The attempt that ran it; earlier than the shown one where the job was not repeated. */
  attempt: number;
  /** From the moment that a runner could have it to its start; null if it never waited, or in an earlier attempt. */
  waited: Span | null;
  /** Null if it did not run, or in an earlier attempt. */
  ran: Span | null;
  steps: TimedStep[];
}

/** An attempt of a run on one time axis. */
export interface Timeline {
  run: RunRow;
  attempt: number;
  /** Epoch milliseconds: the beginning of the axis; null if no job ran or waits. */
  startedAt: number | null;
  /** Length of the axis. */
  lengthMs: number;
  /** In the order of the file. */
  jobs: TimedJob[];
}

/**
 * Waits and durations of the jobs and steps of an attempt, by default the newest; what is not over ends now. Throws
 * `run_not_found`.
 */
export async function timelineOf(
  deps: Pick<CiDeps, 'db' | 'reports' | 'clock'>,
  found: Pick<Found, 'repository'>,
  number: number,
  attempt?: number,
): Promise<Timeline> {
  const { run, attempt: shown, jobs } = await findRun(deps, found, number, attempt);
  const [tasks, attempts] = await Promise.all([tasksOf(deps, jobs), firstAttemptsOf(deps, jobs)]);
  const now = deps.clock.now();
  const isOf = (job: JobRow): boolean => (attempts.get(job.id) ?? shown) === shown;
  const own = jobs.filter(isOf);
  const begins = own.flatMap(({ waitingSince, startedAt }) => waitingSince ?? startedAt ?? []);
  const startedAt = begins.length === 0 ? null : Math.min(...begins);
  const spanOf = (from: number | null, to: number | null): Span | null =>
    from === null || startedAt === null
      ? null
      : { fromMs: Math.max(0, from - startedAt), toMs: Math.max(0, from - startedAt, (to ?? now) - startedAt) };
  const timed = jobs.map((job): TimedJob => {
    const steps = (job.taskId === null ? undefined : tasks.get(job.taskId)?.steps) ?? [];
    if (!isOf(job)) return { job, attempt: attempts.get(job.id)!, waited: null, ran: null, steps: [] };
    return {
      job,
      attempt: shown,
      waited: spanOf(job.waitingSince, job.startedAt ?? (isFinal(job.status) ? job.finishedAt : null)),
      ran: spanOf(job.startedAt, job.finishedAt),
      steps: steps.map((step) => ({
        name: step.name,
        status: step.status,
        span: spanOf(step.startedAt, step.stoppedAt),
      })),
    };
  });
  const ends = timed.flatMap(({ waited, ran, steps }) => [waited, ran, ...steps.map(({ span }) => span)]);
  return { run, attempt: shown, startedAt, lengthMs: Math.max(0, ...ends.map((span) => span?.toMs ?? 0)), jobs: timed };
}
