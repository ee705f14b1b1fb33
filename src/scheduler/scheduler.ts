import { schedule } from 'node-cron';
import type { ScheduledTask } from 'node-cron';
import type { Clock, Logger } from '../kernel/index.ts';
import type { TaskRuns } from './task-runs.ts';

/** A scheduled task of a module. */
export interface CronTask {
  /** A stable name, used in the log. */
  name: string;
  /** Six cron fields, seconds first, in the server's time zone. */
  time: string;
  run(): Promise<unknown>;
}

export interface Scheduler {
  start(): void;
  /** Names and times, in order. */
  readonly tasks: readonly Pick<CronTask, 'name' | 'time'>[];
  /** The next time of each task by name, in epoch milliseconds. Empty before the start. */
  next(): ReadonlyMap<string, number>;
  /**
   * Runs a task now and returns its outcome; waits for a run in progress instead of starting another.
   * @returns null for an unknown name
   */
  runNow(name: string): Promise<TaskOutcome | null>;
  /** Waits for running tasks. */
  stop(): Promise<void>;
}

export interface SchedulerOptions {
  tasks: readonly CronTask[];
  logger: Logger;
  clock: Clock;
  /** Where outcomes are stored. */
  runs: TaskRuns;
}

/** The outcome of one run of a task. */
export interface TaskOutcome {
  tookMs: number;
  /** Null on success. */
  error: unknown;
}

const startDelayMs = 500;

/**
 * Runs tasks at their times. A task never overlaps itself: while it runs, its next time is skipped. A failure is
 * logged, and the task runs again at its next time.
 */
export function createScheduler({ tasks, logger, runs, clock }: SchedulerOptions): Scheduler {
  const timers: [name: string, task: ScheduledTask][] = [];
  const running = new Map<string, Promise<TaskOutcome>>();
  let starting: NodeJS.Timeout | undefined;

  function runOnce(task: CronTask): Promise<TaskOutcome> {
    const inProgress = running.get(task.name);
    if (inProgress !== undefined) return inProgress;
    const [startedAt, startedAtMs] = [clock.now(), performance.now()];
    let failure: unknown = null;
    const run = task
      .run()
      .then(
        () => logger.debug('job.done', { job: task.name, tookMs: Math.round(performance.now() - startedAtMs) }),
        (error: unknown) => {
          failure = error;
          logger.error('job.failed', { job: task.name, error });
        },
      )
      .then(() => runs.record(task.name, startedAt, performance.now() - startedAtMs, failure))
      .catch((error: unknown) => logger.warn('job.not_recorded', { job: task.name, error }))
      .then(() => ({ tookMs: performance.now() - startedAtMs, error: failure }))
      .finally(() => running.delete(task.name));
    running.set(task.name, run);
    return run;
  }

  return {
    tasks,
    start() {
      // Computing the times takes longer than opening the ports, and no client waits for a scheduled task.
      starting = setTimeout(() => {
        for (const task of tasks) timers.push([task.name, schedule(task.time, () => void runOnce(task))]);
      }, startDelayMs);
    },
    next: () =>
      new Map(
        timers.flatMap(([name, task]) => {
          const at = task.getNextRun();
          return at === null ? [] : [[name, at.getTime()] as const];
        }),
      ),
    async runNow(name) {
      const task = tasks.find((each) => each.name === name);
      return task === undefined ? null : runOnce(task);
    },
    async stop() {
      clearTimeout(starting);
      await Promise.all(timers.map(([, task]) => task.destroy()));
      await Promise.all(running.values());
    },
  };
}
