import { availableParallelism } from 'node:os';
import { deserialize, serialize } from 'node:v8';
import type { Embedded, TaskName } from '../embedded/index.ts';
import { createLru, currentCharge, waitAtMost } from '../kernel/index.ts';
import type { Logger } from '../kernel/index.ts';
import { TaskQueue } from './task-queue.ts';
import { WorkerSlot } from './worker-slot.ts';
import type { SlotOutcome } from './worker-slot.ts';

/** Why a task has no result. All but `busy` are cached for the same input. */
export type TaskFailureReason =
  /** The input is larger than the task allows. */
  | 'input_too_large'
  | 'result_too_large'
  /** It exceeded its deadline, and its thread was terminated. */
  | 'deadline'
  /** Its thread exceeded the memory limit. */
  | 'memory'
  /** The task threw an error. */
  | 'failed'
  /** No thread was free in time; the task was not started. */
  | 'busy';

type TaskOutcome<Result> = { ok: true; value: Result } | { ok: false; reason: TaskFailureReason };

/** The `run` that a task's file exports; callers import only its type. */
type Task = (input: never) => unknown;

export interface TaskRequest<Run extends Task> {
  task: TaskName;
  /** Cache key of the input, a blob id or a hash; unique per input of a task. */
  key: string;
  /** Called only on a cache miss. Plain data that structured clone can copy. */
  input: () => Parameters<Run>[0] | Promise<Parameters<Run>[0]>;
  /** The client, for the fair queue. */
  client: string;
  limits: TaskLimits;
}

export interface TaskLimits {
  /** CPU time limit in milliseconds; the limit of elapsed time is three times as long. */
  deadlineMs: number;
  /** Time in milliseconds that the caller waits for the task to begin. */
  maxWaitMs: number;
  /** In the format of `v8.serialize`. */
  maxInputBytes: number;
  maxResultBytes: number;
}

export interface PoolLimits {
  threads: number;
  idleMs: number;
  /** Memory limit of one thread. */
  maxMemoryMb: number;
  maxQueued: number;
  maxQueuedOfClient: number;
  maxCachedBytes: number;
  /** Delays before a failed task is retried: the first one doubles up to the second. */
  retryMs: readonly [first: number, last: number];
}

export const defaultPoolLimits: PoolLimits = {
  // Two, so that a hostile file leaves one thread for others; more than four would only take CPU time from git.
  threads: Math.min(4, Math.max(2, availableParallelism() - 1)),
  // Starting a thread takes a tenth of a second, keeping it some 30 MB.
  idleMs: 60_000,
  // All grammars, the largest highlighted file and its HTML take less than 100 MB.
  maxMemoryMb: 160,
  maxQueued: 1_000,
  // One push may have this many workflow files.
  maxQueuedOfClient: 100,
  // Some hundred long documents and highlighted files.
  maxCachedBytes: 32 * 1024 * 1024,
  // A busy machine may succeed a minute later; with the longest delay a hostile file costs a second per hour.
  retryMs: [60_000, 60 * 60_000],
};

/** Memory of an entry besides its result: the key and map overhead. */
const entryBytes = 300;

interface Known {
  /**
   * The result as sent by the thread: as objects it would take several times as much memory, all of it in the heap that
   * every garbage collection walks.
   */
  outcome: TaskOutcome<Uint8Array>;
  giveUps: number;
  /** When it may be retried; Infinity if a retry cannot help. */
  retryAt: number;
}

interface Job {
  client: string;
  request: TaskRequest<Task>;
  hasBegun: boolean;
  waiting: number;
  done: Promise<{ outcome: TaskOutcome<unknown>; cpuMs: number }>;
  settle: (settled: { outcome: TaskOutcome<unknown>; cpuMs: number }) => void;
}

/** Runs parsers of untrusted text in threads that can be terminated, and caches their results. */
export interface WorkerPool {
  /**
   * The result of a task for an input: from the cache, from a run in progress, or from a new one. Never throws because
   * of the input, and takes at most `maxWaitMs` plus three times `deadlineMs`. `chargeCpuTime` charges the CPU time to
   * the first caller.
   */
  run<Run extends Task>(request: TaskRequest<Run>): Promise<TaskOutcome<Awaited<ReturnType<Run>>>>;
  /** Terminates all threads; later requests get `busy`. */
  stop(): void;
}

export function createWorkerPool({
  embedded,
  logger,
  limits = defaultPoolLimits,
  now = () => performance.now(),
}: {
  embedded: Pick<Embedded, 'startWorker'>;
  logger: Logger;
  limits?: PoolLimits;
  now?: () => number;
}): WorkerPool {
  const start = () =>
    embedded.startWorker('tasks', {
      resourceLimits: { maxOldGenerationSizeMb: limits.maxMemoryMb, maxYoungGenerationSizeMb: 8 },
    });
  const slots = Array.from({ length: limits.threads }, () => new WorkerSlot(start, limits.idleMs));
  const free = new Set(slots);
  const queue = new TaskQueue<Job>({ maxJobs: limits.maxQueued, maxJobsOfClient: limits.maxQueuedOfClient });
  const cache = createLru<string, Known>({
    name: 'worker results',
    maxWeight: limits.maxCachedBytes,
    unit: 'bytes',
    weigh: ({ outcome }, key) => entryBytes + 2 * key.length + (outcome.ok ? outcome.value.length : 0),
  });
  const inFlight = new Map<string, Job>();
  let hasStopped = false;

  const keyOf = ({ task, key }: TaskRequest<Task>): string => `${task} ${key}`;

  function remember(request: TaskRequest<Task>, outcome: TaskOutcome<Uint8Array>): void {
    const key = keyOf(request);
    const giveUps = outcome.ok ? 0 : (cache.get(key)?.giveUps ?? 0) + 1;
    const isForGood = outcome.ok || outcome.reason === 'input_too_large' || outcome.reason === 'result_too_large';
    const [first, last] = limits.retryMs;
    const retryAt = isForGood ? Number.POSITIVE_INFINITY : now() + Math.min(last, first * 2 ** (giveUps - 1));
    cache.set(key, { outcome, giveUps, retryAt });
  }

  /** Converts a thread's outcome for the callers and caches it. */
  function conclude(request: TaskRequest<Task>, ended: SlotOutcome): TaskOutcome<unknown> {
    if (ended.kind === 'done') {
      // Copied: the thread may send a slice of a buffer twice its size.
      remember(request, { ok: true, value: ended.result.slice() });
      return { ok: true, value: deserialize(ended.result) as unknown };
    }
    if (hasStopped) return { ok: false, reason: 'busy' };
    const outcome = { ok: false as const, reason: ended.kind };
    remember(request, outcome);
    logger.warn('workers.gave_up', {
      task: request.task,
      reason: ended.kind,
      client: request.client,
      ...(ended.kind === 'failed' ? { message: ended.message } : {}),
    });
    return outcome;
  }

  /** Assigns queued jobs to free threads, running ones first, so that a second thread starts only under load. */
  function dispatch(): void {
    while (free.size > 0) {
      const job = queue.take();
      if (job === undefined) return;
      const slot = [...free].find(({ isRunning }) => isRunning) ?? [...free][0]!;
      free.delete(slot);
      void work(slot, job).finally(() => {
        free.add(slot);
        dispatch();
      });
    }
  }

  async function work(slot: WorkerSlot, job: Job): Promise<void> {
    const { request } = job;
    const { deadlineMs, maxInputBytes, maxResultBytes } = request.limits;
    let settled: Awaited<Job['done']>;
    try {
      const input = serialize(await request.input());
      if (hasStopped) settled = { outcome: { ok: false, reason: 'busy' }, cpuMs: 0 };
      else if (input.length > maxInputBytes) {
        const outcome = { ok: false as const, reason: 'input_too_large' as const };
        remember(request, outcome);
        settled = { outcome, cpuMs: 0 };
      } else {
        const onBegin = (): void => void (job.hasBegun = true);
        const ended = await slot.run({ task: request.task, input, deadlineMs, maxResultBytes, onBegin });
        settled = { outcome: conclude(request, ended), cpuMs: ended.cpuMs };
      }
    } catch (error) {
      logger.error('workers.failed', { task: request.task, error });
      settled = { outcome: { ok: false, reason: 'failed' }, cpuMs: 0 };
    }
    inFlight.delete(keyOf(request));
    job.settle(settled);
  }

  function enqueue(request: TaskRequest<Task>): Job | null {
    const { promise: done, resolve: settle } = Promise.withResolvers<Awaited<Job['done']>>();
    const job: Job = { client: request.client, request, hasBegun: false, waiting: 0, done, settle };
    if (!queue.add(job)) return null;
    inFlight.set(keyOf(request), job);
    dispatch();
    return job;
  }

  /** The job's outcome, or null if it has not begun within `maxWaitMs`. */
  async function waitForResult(job: Job, maxWaitMs: number): Promise<Awaited<Job['done']> | null> {
    job.waiting += 1;
    const ended = await waitAtMost(job.done, maxWaitMs);
    job.waiting -= 1;
    if (ended !== undefined || job.hasBegun) return ended ?? job.done;
    // The thread continues loading; it may be ready for the next request.
    if (job.waiting === 0 && queue.remove(job)) inFlight.delete(keyOf(job.request));
    return null;
  }

  return {
    async run<Run extends Task>(request: TaskRequest<Run>) {
      type Reply = TaskOutcome<Awaited<ReturnType<Run>>>;
      const taskRequest = request as unknown as TaskRequest<Task>;
      const known = cache.get(keyOf(taskRequest));
      if (known !== undefined && now() < known.retryAt)
        return (known.outcome.ok ? { ok: true, value: deserialize(known.outcome.value) } : known.outcome) as Reply;
      const busy: Reply = { ok: false, reason: 'busy' };
      if (hasStopped) return busy;
      const running = inFlight.get(keyOf(taskRequest));
      const job = running ?? enqueue(taskRequest);
      if (job === null) return busy;
      const charge = running === undefined ? currentCharge() : null;
      if (charge !== null) void job.done.then(({ cpuMs }) => charge(cpuMs));
      const ended = await waitForResult(job, request.limits.maxWaitMs);
      return (ended?.outcome as Reply | undefined) ?? busy;
    },
    stop() {
      hasStopped = true;
      for (const job of queue.removeAll()) job.settle({ outcome: { ok: false, reason: 'busy' }, cpuMs: 0 });
      for (const slot of slots) slot.end();
    },
  };
}
