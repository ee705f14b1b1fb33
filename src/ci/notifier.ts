/**
 * Condition variable by topic: lets a caller wait until something changes. It carries no data: a woken caller reads
 * the state itself.
 */
export class Notifier {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Wakes all waiters of a topic. */
  notify(topic: string): void {
    const waiting = this.#waiting.get(topic);
    this.#waiting.delete(topic);
    for (const wake of waiting ?? []) wake();
  }

  /** Resolves at the next notification, after the timeout, or when the signal aborts. */
  wait(topic: string, { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const waiting = this.#waiting.get(topic) ?? new Set();
      this.#waiting.set(topic, waiting);
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(topic) === waiting) this.#waiting.delete(topic);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      signal.addEventListener('abort', wake);
      waiting.add(wake);
    });
  }
}

export const runTopic = (runId: number): string => `run ${runId}`;
export const logTopic = (taskId: number): string => `log ${taskId}`;
