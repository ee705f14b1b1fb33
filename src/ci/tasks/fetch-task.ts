import { setTimeout as sleep } from 'node:timers/promises';
import { isNotNull } from '../../db/index.ts';
import { conflict, rateLimited } from '../../kernel/index.ts';
import { unregistered } from '../runners/authenticate-runner.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { advanceJobs } from '../runs/advance-run.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { CiDeps } from '../deps.ts';
import type { Claim } from '../task-queue/claim.ts';
import { releaseTask } from './release-task.ts';
import { taskContent } from './task-content.ts';
import type { TaskContent } from './task-content.ts';
import { taskSchema } from '../schema/task-schema.ts';

export interface FetchOptions {
  /** Time that the runner is willing to wait, in milliseconds; null if it does not specify one. */
  deadlineMs: number | null;
  /** `x-runner-request-key`: a repeated call with the same key gets the same task. */
  requestKey: string | null;
  /** URL at which the runner reaches this server: `https://git.example.org`. */
  origin: string | null;
  /** Aborts when the runner disconnects. */
  signal: AbortSignal;
  /** The only job that is asked for, now or not at all; null for the next one. */
  jobId?: number | null;
}

const longestHoldMs = 25_000;
const holdWithoutDeadlineMs = 2_000;
/** Subtracted from the runner's own deadline, so that it gets a response instead of a timeout. */
const responseMarginMs = 500;

/**
 * Long-polls for a task for a runner. Null if none arrives in time. A job whose content cannot be built fails alone,
 * with its message; the runner gets the next one. Throws `unregistered_runner` for an ephemeral runner whose task has
 * ended, `too_many_polls`, `request_key_locked`.
 */
export async function fetchTask(
  deps: CiDeps,
  calls: FetchCalls,
  runner: RunnerRow,
  options: FetchOptions,
): Promise<TaskContent | null> {
  return calls.during(runner.id, options.requestKey, async () => {
    const { requestKey, signal, jobId = null } = options;
    const before = await taskBefore(deps, runner, requestKey);
    if (before !== null && deps.queue.markDispatched(before.task.id)) return contentOf(deps, before, options.origin);
    if (runner.ephemeral && (await isUsedUp(deps, runner))) {
      const holdFor = holdMs(options.deadlineMs);
      return sleep(holdFor, null, { signal }).catch(() => null);
    }
    const until = performance.now() + (jobId === null ? holdMs(options.deadlineMs) : 0);
    for (;;) {
      const left = Math.max(0, until - performance.now());
      if (runner.disabledAt !== null && !(await waitUntilEnabled(deps, runner, { until, signal }))) return null;
      const claim = await deps.queue.wait(runner, requestKey, { holdMs: left, signal, jobId });
      if (claim === null) return null;
      if (requestKey !== null) deps.queue.markDispatched(claim.task.id);
      const content = await contentOf(deps, claim, options.origin);
      if (content !== null) return content;
    }
  });
}

/** Interval in milliseconds for reading a row that another process may have changed. */
const enabledPollMs = 1_000;

/** Whether a disabled runner is enabled before a deadline. */
async function waitUntilEnabled(
  { db }: CiDeps,
  runner: RunnerRow,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<boolean> {
  for (let left = until - performance.now(); left > 0 && !signal.aborted; left = until - performance.now()) {
    await sleep(Math.min(enabledPollMs, left), null, { signal }).catch(() => null);
    const row = await db.read.findOneBy(runnerSchema, { id: runner.id });
    if (row === null) return false;
    if (row.disabledAt === null) return true;
  }
  return false;
}

function holdMs(deadlineMs: number | null): number {
  if (deadlineMs === null) return holdWithoutDeadlineMs;
  return deadlineMs < 1_000 ? 0 : Math.min(longestHoldMs, deadlineMs - responseMarginMs);
}

/** The task of an earlier call with the same key, whose response may have been lost. */
async function taskBefore({ db }: CiDeps, runner: RunnerRow, requestKey: string | null): Promise<Claim | null> {
  if (requestKey === null) return null;
  const task = await db.read.findOneBy(taskSchema, { runnerId: runner.id, requestKey, status: 'running' });
  const job = task === null ? null : await db.read.findOneBy(jobSchema, { id: task.jobId });
  return task === null || job === null ? null : { task, job };
}

/**
 * An ephemeral runner gets one task; once that has ended and its log is complete, the runner counts as unregistered.
 */
async function isUsedUp({ db }: CiDeps, runner: RunnerRow): Promise<boolean> {
  const isDone = await db.read.existsBy(taskSchema, {
    runnerId: runner.id,
    sealedAt: isNotNull(),
    stoppedAt: isNotNull(),
  });
  if (isDone) throw unregistered();
  return db.read.existsBy(taskSchema, { runnerId: runner.id });
}

/** Builds the content of the task; null if that failed the job, or if the job was cancelled. */
async function contentOf(deps: CiDeps, claim: Claim, origin: string | null): Promise<TaskContent | null> {
  const { task, job } = claim;
  try {
    const content = await taskContent(deps, await deps.runs.load(job.runId), job, task, origin);
    // `fail-fast` or a user may have ended the job since it was claimed; then no runner may start it.
    const present = await deps.db.read.findOneBy(taskSchema, { id: task.id });
    if (present?.status === 'running') return content;
    await releaseTask(deps, task.id, { countsAsLoss: false });
    return null;
  } catch (error) {
    deps.logger.error('ci.task_not_built', { task: task.id, job: job.id, error });
    await failJob(deps, claim, `This job could not be handed to a runner: ${(error as Error).message}`);
    return null;
  }
}

async function failJob(deps: CiDeps, { task, job }: Claim, reason: string): Promise<void> {
  const loaded = await deps.runs.load(job.runId).catch(() => null);
  await changeRuns(deps, async (tx, after) => {
    await tx.manager.update(taskSchema, { id: task.id }, { status: 'failure', stoppedAt: tx.now, sealedAt: tx.now });
    const runChanges = await RunChanges.open(deps, tx, after, job.runId);
    const row = runChanges?.jobs.find((one) => one.taskId === task.id);
    if (runChanges == null || row === undefined) return;
    runChanges.change(row, { status: 'failure', reason: reason.slice(0, 1000) });
    if (loaded === null) await runChanges.save();
    else await advanceJobs(deps, tx, after, runChanges, loaded);
  });
}

/** Takes back a task whose runner disconnected before it received the response. */
export function returnTask(deps: CiDeps, taskId: number): Promise<void> {
  return deps.queue.releaseUndelivered(taskId, () => releaseTask(deps, taskId, { countsAsLoss: false }));
}

const emptyResponsesPerSecond = 5;

/** Running FetchTask calls, and the number of empty polls of each runner. */
export class FetchCalls {
  readonly #open = new Set<string>();
  readonly #empty = new Map<number, number[]>();

  /** Throws `request_key_locked`, `too_many_polls`. */
  async during(
    runnerId: number,
    requestKey: string | null,
    work: () => Promise<TaskContent | null>,
  ): Promise<TaskContent | null> {
    const key = requestKey === null ? null : `${runnerId} ${requestKey}`;
    if (key !== null && this.#open.has(key))
      throw conflict('request_key_locked', 'The same request is already in progress.');
    this.#refuseHaste(runnerId);
    if (key !== null) this.#open.add(key);
    try {
      const content = await work();
      if (content === null) this.#recordEmptyPoll(runnerId);
      return content;
    } finally {
      if (key !== null) this.#open.delete(key);
    }
  }

  #refuseHaste(runnerId: number): void {
    const recent = this.#empty.get(runnerId) ?? [];
    if (recent.length < emptyResponsesPerSecond || performance.now() - recent[0]! > 1000) return;
    throw rateLimited('too_many_polls', 'This runner polls too often.', 1);
  }

  #recordEmptyPoll(runnerId: number): void {
    const recent = [...(this.#empty.get(runnerId) ?? []), performance.now()].slice(-emptyResponsesPerSecond);
    this.#empty.set(runnerId, recent);
  }
}
