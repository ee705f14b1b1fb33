import { unavailable } from '../../kernel/index.ts';

/** What a slot is for: a repository, and perhaps the person or address of the client. */
export interface SlotFor {
  repository: string;
  client?: string | undefined;
}

export interface SlotRules {
  total: number;
  perRepository: number;
  perClient?: number;
  /** Queue length, and how long a request may wait in milliseconds. */
  queue: number;
  waitMs: number;
  retryAfterSeconds: number;
}

/** Counts of one kind of work since the start. */
export interface SlotTally {
  /** Requests admitted, refused because the queue was full, and refused after waiting in it. */
  admitted: number;
  refusedFull: number;
  refusedLate: number;
  /** Total seconds spent in the queue, and with a slot. */
  waitedSeconds: number;
  workedSeconds: number;
}

export interface Slots {
  /**
   * Waits for a slot and returns the function that releases it. Refuses `git_busy` when the queue is full or the wait
   * times out, and with the signal's reason when the client leaves meanwhile.
   */
  take(who: SlotFor, signal?: AbortSignal): Promise<() => void>;
  inUse(): number;
  /** Slots in use by one repository. */
  inUseFor(repository: string): number;
  waiting(): number;
  tally(): Readonly<SlotTally>;
}

interface Waiter {
  who: SlotFor;
  admit(): void;
}

/**
 * A semaphore with fair sharing for one kind of work. First come, first served, except that a request whose repository
 * or client has reached its share is passed over: one busy repository never blocks the others.
 */
export function createSlots(rules: SlotRules): Slots {
  const perRepository = new Map<string, number>();
  const perClient = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let inUse = 0;
  const tally: SlotTally = { admitted: 0, refusedFull: 0, refusedLate: 0, waitedSeconds: 0, workedSeconds: 0 };
  const secondsSince = (at: number): number => (performance.now() - at) / 1000;

  function fits({ repository, client }: SlotFor): boolean {
    return (
      inUse < rules.total &&
      (perRepository.get(repository) ?? 0) < rules.perRepository &&
      (client === undefined || rules.perClient === undefined || (perClient.get(client) ?? 0) < rules.perClient)
    );
  }

  function occupy({ repository, client }: SlotFor): () => void {
    inUse += 1;
    add(perRepository, repository, 1);
    if (client !== undefined) add(perClient, client, 1);
    let given = false;
    const startedAt = performance.now();
    tally.admitted += 1;
    return () => {
      if (given) return;
      given = true;
      tally.workedSeconds += secondsSince(startedAt);
      inUse -= 1;
      add(perRepository, repository, -1);
      if (client !== undefined) add(perClient, client, -1);
      admitWaiters();
    };
  }

  function admitWaiters(): void {
    for (const waiter of waiters) {
      if (inUse >= rules.total) return;
      if (fits(waiter.who)) waiter.admit();
    }
  }

  const busy = () =>
    unavailable('git_busy', 'The server is busy with other git requests. Try again in a moment.', {
      retryAfterSeconds: rules.retryAfterSeconds,
    });

  function wait(who: SlotFor, signal: AbortSignal | undefined): Promise<() => void> {
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const leave = () => {
        tally.waitedSeconds += secondsSince(startedAt);
        waiters.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        who,
        admit() {
          leave();
          resolve(occupy(who));
        },
      };
      const onAbort = () => {
        leave();
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        leave();
        tally.refusedLate += 1;
        reject(busy());
      }, rules.waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      waiters.add(waiter);
    });
  }

  return {
    async take(who, signal) {
      signal?.throwIfAborted();
      if (fits(who)) return occupy(who);
      if (waiters.size >= rules.queue) {
        tally.refusedFull += 1;
        throw busy();
      }
      return wait(who, signal);
    },
    inUse: () => inUse,
    inUseFor: (repository) => perRepository.get(repository) ?? 0,
    waiting: () => waiters.size,
    tally: () => tally,
  };
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
