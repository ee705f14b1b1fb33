import { createSemaphore } from '../../kernel/index.ts';
import type { Logger, Semaphore } from '../../kernel/index.ts';

/**
 * Computes merge states in the background, the newest pull request first and two at a time, so that pages of others
 * stay fast. What a stop leaves is computed when a page asks.
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

  /** @param compute by the id of the issue */
  connect(compute: (issueId: string) => Promise<void>): void {
    this.#compute = compute;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Adds pull requests by the ids of their issues, in the order in which they are to be computed. */
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
   * The same after work that makes it faster, which has its turn like one of them; they are added whatever becomes of
   * it.
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

  /** Has a stop wait for work that looks at `isStopped`. */
  track(work: Promise<void>): Promise<void> {
    this.#running.add(work);
    const done = (): void => void this.#running.delete(work);
    work.then(done, done);
    return work;
  }

  /** Waits for what is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }
}
