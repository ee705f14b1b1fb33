import type { ServerResponse } from 'node:http';

/** Rendering takes a few milliseconds; a request that takes longer waits for something else than the main thread. */
const defaultQuickMs = 20;
/** Time limit of a waiting step: on a server that always renders some page, it then takes its turn among them. */
const defaultMaxWaitMs = 10;

/** Time after a response in which the reader's next request is expected. */
const recentMs = 100;

/** A request whose response takes only a moment. */
export interface ActiveRequest {
  beganAt: number;
  isQuick: boolean;
}

/**
 * Cooperative scheduling of background work. Many concurrent searches consist of many steps of half a millisecond,
 * which fill the main thread: any other page would wait, in each turn of the event loop that it takes, for all steps
 * queued before it. So the steps have a lower priority: one runs per turn of the loop, and none while another page is
 * being rendered.
 */
export interface BackgroundPriority {
  /** Must be called when a request begins: background work waits for it. */
  onRequest(exchange: { res: ServerResponse; state: Marked }): void;
  /** Marks this request as background work: nothing waits for it anymore. */
  yield(state: Marked): void;
  /** Resolves when the next step of background work may run. */
  turn(): Promise<void>;
  /** Whether a request of normal priority has ended in the last tenth of a second. */
  hasRecentRequests(): boolean;
}

interface Marked {
  activeRequest?: ActiveRequest;
}

interface Step {
  begin: () => void;
  askedAt: number;
}

export function createBackgroundPriority({
  quickMs = defaultQuickMs,
  maxWaitMs = defaultMaxWaitMs,
} = {}): BackgroundPriority {
  /** Oldest first. The entries do not refer to their requests, which a garbage collection would have to trace. */
  const active: ActiveRequest[] = [];
  const steps: Step[] = [];
  let isTurnTaken = false;
  let isTurnScheduled = false;
  let isWaiting = false;
  let lastEndAt = -Infinity;

  /** Drops requests before the first one that is still quick. */
  function isAnyQuick(now: number): boolean {
    for (let oldest = active[0]; oldest !== undefined; oldest = active[0]) {
      if (oldest.isQuick && now - oldest.beganAt < quickMs) return true;
      active.shift();
    }
    return false;
  }

  function scheduleTurn(): void {
    if (isTurnScheduled) return;
    isTurnScheduled = true;
    setImmediate(runTurn);
  }

  function runTurn(): void {
    isTurnScheduled = false;
    isTurnTaken = false;
    const [first] = steps;
    if (first === undefined) return;
    const now = performance.now();
    const leftMs = first.askedAt + maxWaitMs - now;
    if (leftMs > 0 && isAnyQuick(now)) return waitFor(leftMs);
    steps.shift();
    isTurnTaken = true;
    scheduleTurn();
    first.begin();
  }

  /** The end of a request schedules the next turn earlier. */
  function waitFor(ms: number): void {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      scheduleTurn();
    }, ms).unref();
  }

  function end({ activeRequest }: Marked): void {
    if (activeRequest === undefined) return;
    activeRequest.isQuick = false;
    if (steps.length > 0) scheduleTurn();
  }

  return {
    onRequest({ res, state }) {
      const beganAt = performance.now();
      // Without searches nothing else calls this, and the list would grow.
      isAnyQuick(beganAt);
      state.activeRequest = { beganAt, isQuick: true };
      active.push(state.activeRequest);
      res.once('close', () => {
        if (state.activeRequest?.isQuick) lastEndAt = performance.now();
        end(state);
      });
    },
    yield: end,
    hasRecentRequests: () => performance.now() - lastEndAt < recentMs,
    turn() {
      const askedAt = performance.now();
      const isFree = !isTurnTaken && steps.length === 0 && !isAnyQuick(askedAt);
      scheduleTurn();
      if (!isFree) return new Promise((begin) => steps.push({ begin, askedAt }));
      isTurnTaken = true;
      return Promise.resolve();
    },
  };
}
