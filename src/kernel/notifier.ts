/**
 * A condition variable by topic: callers wait until a topic is notified. A notification carries no data; each waiter
 * checks the state itself.
 */
export interface Notifier {
  /** Wakes all current waiters of this topic. */
  notify(topic: string): void;
  /** Resolves at the next notification, after `timeoutMs`, or when the signal aborts; both are optional. */
  wait(topic: string, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<void>;
}

export function createNotifier(): Notifier {
  const waiting = new Map<string, Set<() => void>>();
  return {
    notify(topic) {
      const wakes = waiting.get(topic);
      waiting.delete(topic);
      for (const wake of wakes ?? []) wake();
    },
    wait(topic, { signal, timeoutMs } = {}) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wakes = waiting.get(topic) ?? new Set();
        waiting.set(topic, wakes);
        const wake = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', wake);
          wakes.delete(wake);
          if (wakes.size === 0 && waiting.get(topic) === wakes) waiting.delete(topic);
          resolve();
        };
        const timer = timeoutMs === undefined ? undefined : setTimeout(wake, Math.max(0, timeoutMs));
        signal?.addEventListener('abort', wake);
        wakes.add(wake);
      });
    },
  };
}
