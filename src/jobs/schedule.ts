import { schedule } from 'node-cron';
import type { ScheduledTask } from 'node-cron';
import type { Logger } from '../kernel/index.ts';

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
  /** Waits for the jobs that are running. */
  stop(): Promise<void>;
}

const startDelayMs = 500;

/**
 * Runs jobs at their times. A job never overlaps itself: a slow run skips its
 * next time. A failing job is logged and comes again at its time.
 */
export function createSchedule({ jobs, logger }: { jobs: readonly Job[]; logger: Logger }): Schedule {
  const tasks: ScheduledTask[] = [];
  const running = new Map<string, Promise<void>>();
  let starting: NodeJS.Timeout | undefined;

  function runOnce(job: Job): void {
    if (running.has(job.name)) return;
    const startedAt = performance.now();
    const run = job
      .run()
      .then(
        () => logger.debug('job.done', { job: job.name, tookMs: Math.round(performance.now() - startedAt) }),
        (error: unknown) => logger.error('job.failed', { job: job.name, error }),
      )
      .finally(() => running.delete(job.name));
    running.set(job.name, run);
  }

  return {
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
