import { schedule } from 'node-cron';
import type { ScheduledTask } from 'node-cron';
import type { Clock, Logger } from '../kernel/index.ts';
import type { TaskRuns } from './task-runs.ts';

/** Something a room does from time to time. */
export interface CronTask {
  /** Stable; named in the log. */
  name: string;
  /** Six cron fields, seconds first, in the server's time zone. */
  time: string;
  run(): Promise<unknown>;
}

export interface Scheduler {
  start(): void;
  /** Names and times, in order. */
  readonly jobs: readonly Pick<CronTask, 'name' | 'time'>[];
  /** When each job comes next, by name; epoch milliseconds. Empty before the start. */
  next(): ReadonlyMap<string, number>;
  /**
   * Runs a job now, by name, and answers how it went; waits for a run that is under way instead of starting another.
   * @returns null for a name that there is not
   */
  runNow(name: string): Promise<TaskOutcome | null>;
  /** Waits for the jobs that are running. */
  stop(): Promise<void>;
}

export interface SchedulerOptions {
  jobs: readonly CronTask[];
  logger: Logger;
  clock: Clock;
  /** Where it is remembered how they went. */
  runs: TaskRuns;
}

/** How one run of a job went. */
export interface TaskOutcome {
  tookMs: number;
  /** Null when it went well. */
  error: unknown;
}

const startDelayMs = 500;

/**
 * Runs jobs at their times. A job never overlaps itself: a slow run skips its
 * next time. A failing job is logged and comes again at its time.
 */
export function createScheduler({ jobs, logger, runs, clock }: SchedulerOptions): Scheduler {
  const tasks: [name: string, task: ScheduledTask][] = [];
  const running = new Map<string, Promise<TaskOutcome>>();
  let starting: NodeJS.Timeout | undefined;

  function runOnce(job: CronTask): Promise<TaskOutcome> {
    const underWay = running.get(job.name);
    if (underWay !== undefined) return underWay;
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
      .then(() => ({ tookMs: performance.now() - startedAtMs, error: failure }))
      .finally(() => running.delete(job.name));
    running.set(job.name, run);
    return run;
  }

  return {
    jobs,
    start() {
      // Working out the times takes longer than opening the doors does; nobody waits for a job.
      starting = setTimeout(() => {
        for (const job of jobs) tasks.push([job.name, schedule(job.time, () => void runOnce(job))]);
      }, startDelayMs);
    },
    next: () =>
      new Map(
        tasks.flatMap(([name, task]) => {
          const at = task.getNextRun();
          return at === null ? [] : [[name, at.getTime()] as const];
        }),
      ),
    async runNow(name) {
      const job = jobs.find((each) => each.name === name);
      return job === undefined ? null : runOnce(job);
    },
    async stop() {
      clearTimeout(starting);
      await Promise.all(tasks.map(([, task]) => task.destroy()));
      await Promise.all(running.values());
    },
  };
}
