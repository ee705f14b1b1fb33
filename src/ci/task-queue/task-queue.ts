import type { RunnerRow } from '../schema/runner-schema.ts';
import { mayTake, groupWaitingJobs } from './group-waiting-jobs.ts';
import type { Database } from '../../db/index.ts';
import { createLru } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { Claim } from './claim.ts';

/** A runner that long-polls for a job. */
interface Waiter {
  runner: RunnerRow;
  requestKey: string | null;
  /** The only job that it asks for; null for any. */
  jobId: number | null;
  /** Returns whether the runner was still connected. */
  give(claim: Claim | null): boolean;
}

interface QueueOptions {
  db: Database;
  logger: Logger;
  claim(runner: RunnerRow, asked: { requestKey: string | null; jobId: number | null }): Promise<Claim | null>;
  /** Takes back the claim of a runner that has disconnected. */
  release(claim: Claim): Promise<void>;
}

/** Poll interval for jobs queued by another process (`hearth run rerun`), in milliseconds. */
const pollMs = 1_000;
const maxRemembered = 1_000;

/**
 * Waiting runners in order of arrival, and the loop that assigns jobs to them. A runner is listed before the queue is
 * read, so that no wake-up is lost; a runner without a matching job costs only memory.
 */
export class TaskQueue {
  readonly #options: QueueOptions;
  readonly #waiters = new Set<Waiter>();
  #serving: Promise<void> | null = null;
  #again = false;
  /** Called when the next round has ended. */
  #roundListeners: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;
  /**
   * Number of responses in flight per task that a repeated call may get again; bounded, since delivered ones are not
   * repeated.
   */
  readonly #dispatched = createLru<number, number>({ name: 'dispatched tasks', maxWeight: maxRemembered });
  /** Tasks that are being taken back, because no response with them was delivered. */
  readonly #returning = new Set<number>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * Waits for a job for a runner.
   * @param holdMs maximum wait; 0 checks once
   * @returns null if there is none in time, and if the caller has disconnected
   */
  async wait(
    runner: RunnerRow,
    requestKey: string | null,
    { holdMs, signal, jobId = null }: { holdMs: number; signal: AbortSignal; jobId?: number | null },
  ): Promise<Claim | null> {
    if (this.#stopped || signal.aborted) return null;
    let waiter: Waiter;
    const given = new Promise<Claim | null>((resolve) => {
      let isOpen = true;
      const give = (claim: Claim | null): boolean => {
        if (!isOpen) return false;
        isOpen = false;
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        this.#waiters.delete(waiter);
        resolve(claim);
        return true;
      };
      const leave = () => give(null);
      const timer = setTimeout(leave, holdMs);
      // Without time to wait, the first check of the queue decides, not the timer.
      if (holdMs === 0) clearTimeout(timer);
      signal.addEventListener('abort', leave);
      waiter = { runner, requestKey, jobId, give };
      this.#waiters.add(waiter);
    });
    const looked = this.#serve();
    if (holdMs === 0) void looked.then(() => waiter.give(null));
    this.#watch();
    return given;
  }

  /**
   * Records that a response contains the task, possibly again: an interrupted call is repeated before the server
   * notices. Returns false if the task is being taken back and must not be sent.
   */
  markDispatched(taskId: number): boolean {
    if (this.#returning.has(taskId)) return false;
    this.#dispatched.set(taskId, (this.#dispatched.get(taskId) ?? 0) + 1);
    return true;
  }

  /** Runs `release`, unless the task is also in a response that may have been delivered. */
  async releaseUndelivered(taskId: number, release: () => Promise<void>): Promise<void> {
    const others = (this.#dispatched.get(taskId) ?? 1) - 1;
    if (others > 0) return void this.#dispatched.set(taskId, others);
    this.#dispatched.delete(taskId);
    this.#returning.add(taskId);
    await release().finally(() => this.#returning.delete(taskId));
  }

  /** Wakes the loop after a write that may have queued a job. Resolves once waiting runners were served. */
  async wake(): Promise<void> {
    if (this.#waiters.size > 0) await this.#serve();
  }

  /** Applies new labels to a waiting runner. */
  async relabel(runnerId: number, labels: string[]): Promise<void> {
    for (const waiter of this.#waiters) if (waiter.runner.id === runnerId) waiter.runner = { ...waiter.runner, labels };
    await this.wake();
  }

  /** Ends all waits without a job, and stops assigning jobs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const waiter of [...this.#waiters]) waiter.give(null);
    await this.#serving;
  }

  /** Runs one loop at a time; a call during a round causes another round. Resolves at the end of that round. */
  #serve(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#roundListeners.push(resolve));
    this.#again = true;
    this.#serving ??= this.#loop();
    return ended;
  }

  async #loop(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      const polling = this.#roundListeners.splice(0);
      await this.#round().catch((error: unknown) => this.#options.logger.error('ci.queue_failed', { error }));
      for (const notify of polling) notify();
    }
    for (const notify of this.#roundListeners.splice(0)) notify();
    // Set synchronously: a wake-up in between would find a loop that has ended.
    this.#serving = null;
  }

  /**
   * Assigns at most one job to every waiter; the next round continues. The queue is read again after each job, so that
   * the runners that get none cost no writes beside the answer of the one that has got it.
   */
  async #round(): Promise<void> {
    const { db, claim, release } = this.#options;
    let lines = await groupWaitingJobs(db.read);
    for (const waiter of [...this.#waiters]) {
      if (lines.length === 0) return;
      if (this.#stopped || !lines.some((line) => mayTake(waiter.runner, line))) continue;
      const claimed = await claim(waiter.runner, waiter);
      if (claimed === null) continue;
      this.#again = true;
      if (!waiter.give(claimed)) await release(claimed);
      lines = await groupWaitingJobs(db.read);
    }
  }

  #watch(): void {
    this.#timer ??= setInterval(() => {
      if (this.#waiters.size > 0) void this.#serve();
    }, pollMs).unref();
  }
}
