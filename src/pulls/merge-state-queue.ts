import { createSemaphore } from '../kernel/index.ts';
import type { Logger, Semaphore } from '../kernel/index.ts';

/**
 * Computes merge states in the background, newest pull request first and two at a time, so that other pages stay fast.
 * States left at shutdown are computed when a page needs them.
 */
export class MergeStateQueue {
  readonly #waiting = new Set<string>();
  readonly #slots: Semaphore = createSemaphore({ limit: 2 });
  readonly #logger: Logger;
  #compute: (issueId: string) => Promise<void> = async () => {};
  #isStopped = false;
  readonly #running = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * @param compute takes the id of the issue
   */
  connect(compute: (issueId: string) => Promise<void>): void {
    this.#compute = compute;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Adds pull requests by the ids of their issues, in the order of computation. */
  add(issueIds: readonly string[]): void {
    for (const issueId of issueIds) {
      if (this.#isStopped || this.#waiting.has(issueId)) continue;
      this.#waiting.add(issueId);
      const run = this.#slots
        .run(async () => {
          this.#waiting.delete(issueId);
          if (!this.#isStopped) await this.#compute(issueId);
        })
        .catch((error: unknown) => this.#logger.warn('pull.merge_state_failed', { issueId, error }))
        .finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  /**
   * Adds pull requests after `work` that speeds up their computation and is queued like one of them; adds them even if
   * the work fails.
   */
  addAfter(work: () => Promise<void>, issueIds: readonly string[]): void {
    if (this.#isStopped) return;
    const run = this.#slots
      .run(work)
      .catch((error: unknown) => this.#logger.warn('pull.merge_states_not_tried', { error }))
      .finally(() => {
        this.#running.delete(run);
        this.add(issueIds);
      });
    this.#running.add(run);
  }

  /** Makes `stop` wait for work that checks `isStopped`. */
  track(work: Promise<void>): Promise<void> {
    this.#running.add(work);
    const done = (): void => void this.#running.delete(work);
    work.then(done, done);
    return work;
  }

  /** Waits for running computations. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }
}
