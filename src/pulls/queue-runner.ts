import type { Logger } from '../kernel/index.ts';
import { noTests } from './candidate-tests.ts';
import type { CandidateTests } from './candidate-tests.ts';

/**
 * Time in milliseconds for collecting events of one branch: statuses arrive in bursts, inside writes that are not
 * readable yet.
 */
const waitMs = 200;

type Advance = (repositoryId: string, baseBranch: string) => Promise<void>;

/**
 * Advances the queues of branches in the background, one step per branch at a time. Keeps no state: the rows contain
 * the progress of each queue, and a start wakes all queues with rows.
 */
export class QueueRunner {
  tests: CandidateTests<unknown> = noTests as CandidateTests<unknown>;
  /** By repository and branch: whether it was requested again while it ran. */
  readonly #running = new Map<string, { isAsked: boolean; done: Promise<void> }>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #logger: Logger;
  #advance: Advance = async () => {};
  #isStopped = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  connect(advance: Advance): void {
    this.#advance = advance;
  }

  /** Starts at once, or after the running step. */
  wake(repositoryId: string, baseBranch: string): void {
    if (this.#isStopped) return;
    const key = `${repositoryId} ${baseBranch}`;
    const running = this.#running.get(key);
    if (running !== undefined) {
      running.isAsked = true;
      return;
    }
    const entry = { isAsked: true, done: Promise.resolve() };
    this.#running.set(key, entry);
    const run = async (): Promise<void> => {
      while (entry.isAsked && !this.#isStopped) {
        entry.isAsked = false;
        await this.#advance(repositoryId, baseBranch).catch((error: unknown) =>
          this.#logger.warn('pull.queue_failed', { repositoryId, branch: baseBranch, error }),
        );
      }
      this.#running.delete(key);
    };
    entry.done = run();
  }

  /** Starts later: the write of the triggering event may not be readable yet. */
  wakeSoon(repositoryId: string, baseBranch: string, afterMs = waitMs): void {
    const key = `${repositoryId} ${baseBranch}`;
    if (this.#isStopped || this.#timers.has(key)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(key);
      this.wake(repositoryId, baseBranch);
    }, afterMs);
    this.#timers.set(key, timer.unref());
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Waits for running steps. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }
}
