import { schedule } from 'node-cron';
import type { ScheduledTask } from 'node-cron';
import type { Clock, Logger } from '../kernel/index.ts';
import type { Leases } from '../nodes/index.ts';
import type { TaskRuns } from './task-runs.ts';

/** A scheduled task of a module. */
export interface CronTask {
  /** A stable name, used in the log. */
  name: string;
  /** Six cron fields, seconds first, in the server's time zone. */
  time: string;
  /** Whether each node runs it, for work on what the process or its folders have. All others run on one node. */
  onEachNode?: boolean;
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
   * @returns `unknown` for a name that no task has, `elsewhere` when another node runs it
   */
  runNow(name: string): Promise<TaskOutcome | 'unknown' | 'elsewhere'>;
  /** Waits for running tasks. */
  stop(): Promise<void>;
}

interface SchedulerOptions {
  tasks: readonly CronTask[];
  logger: Logger;
  clock: Clock;
  /** Where outcomes are stored. */
  runs: TaskRuns;
  /** What a task of one node asks before it runs. */
  leases: Leases;
}

/** The outcome of one run of a task. */
interface TaskOutcome {
  tookMs: number;
  /** Null on success. */
  error: unknown;
}

const startDelayMs = 500;

/**
 * Runs tasks at their times. A task never overlaps itself: while it runs, its next time is skipped. A failure is
 * logged, and the task runs again at its next time.
 */
export function createScheduler({ tasks, logger, runs, clock, leases }: SchedulerOptions): Scheduler {
  const timers: [name: string, task: ScheduledTask][] = [];
  const running = new Map<string, Promise<TaskOutcome | null>>();
  let starting: NodeJS.Timeout | undefined;

  /**
   * @param restMs how long no other node begins the same by its clock
   * @returns null when another node runs the task
   */
  function runOnce(task: CronTask, restMs = 0): Promise<TaskOutcome | null> {
    const inProgress = running.get(task.name);
    if (inProgress !== undefined) return inProgress;
    const run = runInTurn(task, restMs).finally(() => running.delete(task.name));
    running.set(task.name, run);
    return run;
  }

  async function runInTurn(task: CronTask, restMs: number): Promise<TaskOutcome | null> {
    if (task.onEachNode === true) return measure(task);
    const turn = await leases.take(`task:${task.name}`, restMs);
    if (turn === null) return null;
    try {
      return await measure(task);
    } finally {
      await turn.end();
    }
  }

  function measure(task: CronTask): Promise<TaskOutcome> {
    const [startedAt, startedAtMs] = [clock.now(), performance.now()];
    let failure: unknown = null;
    return task
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
      .then(() => ({ tookMs: performance.now() - startedAtMs, error: failure }));
  }

  /** By its clock. The rest ends long before the next time, and clocks of nodes may differ by as much. */
  async function runByClock(task: CronTask, next: Date | null): Promise<void> {
    const restMs = next === null ? 0 : Math.max(0, (next.getTime() - Date.now()) / 2);
    await runOnce(task, restMs).catch((error: unknown) => logger.warn('job.not_begun', { job: task.name, error }));
  }

  return {
    tasks,
    start() {
      // Computing the times takes longer than opening the ports, and no client waits for a scheduled task.
      starting = setTimeout(() => {
        for (const task of tasks) {
          const timer = schedule(task.time, () => void runByClock(task, timer.getNextRun()));
          timers.push([task.name, timer]);
        }
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
      return task === undefined ? 'unknown' : ((await runOnce(task)) ?? 'elsewhere');
    },
    async stop() {
      clearTimeout(starting);
      await Promise.all(timers.map(([, task]) => task.destroy()));
      await Promise.all(running.values());
    },
  };
}
