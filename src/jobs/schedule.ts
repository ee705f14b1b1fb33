import { schedule } from 'node-cron';
import type { ScheduledTask } from 'node-cron';
import type { Clock, Logger } from '../kernel/index.ts';
import type { JobRuns } from './job-runs.ts';

/** Something a room does from time to time. */
export interface Job {
  /** Stable; named in the log. */
  name: string;
  /** Six cron fields, seconds first, in the server's time zone. */
  time: string;
  run(): Promise<unknown>;
}

export interface Schedule {
  start(): void;
  /** Names and times, in order. */
  readonly jobs: readonly Pick<Job, 'name' | 'time'>[];
  /** Waits for the jobs that are running. */
  stop(): Promise<void>;
}

export interface ScheduleOptions {
  jobs: readonly Job[];
  logger: Logger;
  clock: Clock;
  /** Where it is remembered how they went. */
  runs: JobRuns;
}

const startDelayMs = 500;

/**
 * Runs jobs at their times. A job never overlaps itself: a slow run skips its
 * next time. A failing job is logged and comes again at its time.
 */
export function createSchedule({ jobs, logger, runs, clock }: ScheduleOptions): Schedule {
  const tasks: ScheduledTask[] = [];
  const running = new Map<string, Promise<void>>();
  let starting: NodeJS.Timeout | undefined;

  function runOnce(job: Job): void {
    if (running.has(job.name)) return;
    const [startedAt, startedAtMs] = [clock.now(), performance.now()];
    let failure: unknown = null;
    const run = job
      .run()
      .then(
        () => logger.debug('job.done', { job: job.name, tookMs: Math.round(performance.now() - startedAtMs) }),
        (error: unknown) => {
          failure = error;
          logger.error('job.failed', { job: job.name, error });
        },
      )
      .then(() => runs.record(job.name, startedAt, performance.now() - startedAtMs, failure))
      .catch((error: unknown) => logger.warn('job.not_recorded', { job: job.name, error }))
      .finally(() => running.delete(job.name));
    running.set(job.name, run);
  }

  return {
    jobs,
    start() {
      // Working out the times takes longer than opening the doors does; nobody waits for a job.
      starting = setTimeout(() => {
        for (const job of jobs) tasks.push(schedule(job.time, () => runOnce(job)));
      }, startDelayMs);
    },
    async stop() {
      clearTimeout(starting);
      await Promise.all(tasks.map((task) => task.destroy()));
      await Promise.all(running.values());
    },
  };
}
