/**
 * Lets somebody wait until something has happened to a thing, for as long as they
 * like. It carries no news: whoever wakes up looks for themselves.
 */
export class Notifier {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Wakes everybody who waits for this thing. */
  notify(thing: string): void {
    const waiting = this.#waiting.get(thing);
    this.#waiting.delete(thing);
    for (const wake of waiting ?? []) wake();
  }

  /** Resolves at the next ring, after so many milliseconds, or when the signal aborts. */
  wait(thing: string, { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const waiting = this.#waiting.get(thing) ?? new Set();
      this.#waiting.set(thing, waiting);
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(thing) === waiting) this.#waiting.delete(thing);
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
