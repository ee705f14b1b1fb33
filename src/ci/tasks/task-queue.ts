import type { RunnerRow } from '../schema/runner-schema.ts';
import { mayTake, groupWaitingJobs } from './group-waiting-jobs.ts';
import type { Database } from '../../db/index.ts';
import { createLru } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { Claim } from './claim.ts';

/** A runner that holds its call open until there is something for it. */
interface Waiter {
  runner: RunnerRow;
  requestKey: string | null;
  /** Answers whether the runner was still there to take it. */
  give(claim: Claim | null): boolean;
}

export interface QueueOptions {
  db: Database;
  logger: Logger;
  claim(runner: RunnerRow, requestKey: string | null): Promise<Claim | null>;
  /** Takes back what was claimed for a runner that has left meanwhile. */
  release(claim: Claim): Promise<void>;
}

/** How often waiting runners look for jobs that another process let go (`hearth run rerun`), in milliseconds. */
const lookAgainMs = 1_000;
const maxRemembered = 1_000;

/**
 * Runners that wait, in the order in which they came, and the one loop that gives
 * them jobs. Who comes to wait is put on the list before the queue is looked at, so
 * no wake-up is lost; who has no job for them costs nothing but memory.
 */
export class TaskQueue {
  readonly #options: QueueOptions;
  readonly #waiters = new Set<Waiter>();
  #serving: Promise<void> | null = null;
  #again = false;
  /** Told when the round has ended that begins next. */
  #curious: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;
  /** How many answers with a task are on their way; of tasks that a repeated call may get again. */
  // Bounded: those that arrived are never asked for again.
  readonly #handed = createLru<number, number>({ name: 'dispatched tasks', maxWeight: maxRemembered });
  /** Tasks that are being taken back, because no answer with them has arrived. */
  readonly #returning = new Set<number>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * Waits for a job for a runner.
   * @param holdMs how long; 0 looks once
   * @returns null when there was none, when the time is over, and when the caller has left
   */
  async wait(
    runner: RunnerRow,
    requestKey: string | null,
    { holdMs, signal }: { holdMs: number; signal: AbortSignal },
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
      // With no time to wait, the first look at the queue decides, and not the timer.
      if (holdMs === 0) clearTimeout(timer);
      signal.addEventListener('abort', leave);
      waiter = { runner, requestKey, give };
      this.#waiters.add(waiter);
    });
    const looked = this.#serve();
    if (holdMs === 0) void looked.then(() => waiter.give(null));
    this.#watch();
    return given;
  }

  /**
   * Notes that a task goes out with an answer, perhaps again: a call that was cut off
   * is repeated before the server knows that it was. False when the task is being
   * taken back at this moment, and must not go out.
   */
  markDispatched(taskId: number): boolean {
    if (this.#returning.has(taskId)) return false;
    this.#handed.set(taskId, (this.#handed.get(taskId) ?? 0) + 1);
    return true;
  }

  /** Does what takes a task back, unless it is also in an answer that may have arrived. */
  async takeBack(taskId: number, release: () => Promise<void>): Promise<void> {
    const others = (this.#handed.get(taskId) ?? 1) - 1;
    if (others > 0) return void this.#handed.set(taskId, others);
    this.#handed.delete(taskId);
    this.#returning.add(taskId);
    await release().finally(() => this.#returning.delete(taskId));
  }

  /** A job may have begun to wait; after the write that made it so. Resolves when runners that wait have had their chance. */
  async wake(): Promise<void> {
    if (this.#waiters.size > 0) await this.#serve();
  }

  /** Lets everybody go without a job, and gives nothing away any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const waiter of [...this.#waiters]) waiter.give(null);
    await this.#serving;
  }

  /** One loop at a time; whoever calls during a round gets another one. Resolves at the end of that round. */
  #serve(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#curious.push(resolve));
    this.#again = true;
    this.#serving ??= this.#loop();
    return ended;
  }

  async #loop(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      const polling = this.#curious.splice(0);
      await this.#round().catch((error: unknown) => this.#options.logger.error('ci.queue_failed', { error }));
      for (const tell of polling) tell();
    }
    for (const tell of this.#curious.splice(0)) tell();
    // At once, not a turn later: a wake-up in between would find a loop that has ended.
    this.#serving = null;
  }

  /** Gives every waiter that something fits one job; jobs that are left find the others in the next round. */
  async #round(): Promise<void> {
    const { db, claim, release } = this.#options;
    const lines = await groupWaitingJobs(db.read);
    if (lines.length === 0) return;
    for (const waiter of [...this.#waiters]) {
      if (this.#stopped || !lines.some((line) => mayTake(waiter.runner, line))) continue;
      const claimed = await claim(waiter.runner, waiter.requestKey);
      if (claimed === null) continue;
      this.#again = true;
      if (!waiter.give(claimed)) await release(claimed);
    }
  }

  #watch(): void {
    this.#timer ??= setInterval(() => {
      if (this.#waiters.size > 0) void this.#serve();
    }, lookAgainMs).unref();
  }
}
