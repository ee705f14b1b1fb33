import type { ServerResponse } from 'node:http';

/** A page is made in a few milliseconds; whatever takes longer waits for something else than its turn. */
const defaultQuickMs = 20;
/** A step waits so long at most. On a server that always makes some page, it then takes its turn among them. */
const defaultPatienceMs = 10;

/** Whoever has just read a page may open the next. */
const aboutMs = 100;

/** That somebody waits for an answer which is made in a moment. */
export interface ActiveRequest {
  beganAt: number;
  isQuick: boolean;
}

/**
 * A crowd that searches is many steps of half a millisecond, and they fill the main thread:
 * any other page would wait for all that have come in between, in each turn of the event
 * loop that it takes. So those steps give way. They are taken one in each turn of the loop,
 * and none while another page is being made.
 */
export interface BackgroundPriority {
  /** To be called when a request begins: it is one that others give way to. */
  note(exchange: { res: ServerResponse; state: Noted }): void;
  /** This request gives way itself: nobody waits for it any more. */
  yield(state: Noted): void;
  /** Resolves when it is time for the next step of a request that gives way. */
  turn(): Promise<void>;
  /** Whether a request that others give way to has ended in the last tenth of a second. */
  hasRecentRequests(): boolean;
}

interface Noted {
  atWork?: ActiveRequest;
}

interface Step {
  begin: () => void;
  askedAt: number;
}

export function createBackgroundPriority({
  quickMs = defaultQuickMs,
  patienceMs = defaultPatienceMs,
} = {}): BackgroundPriority {
  /** Oldest first. They hold nothing of their requests: what is kept from one collection of garbage to the next costs the pages. */
  const atWork: ActiveRequest[] = [];
  const line: Step[] = [];
  let isTurnTaken = false;
  let isTurnAwaited = false;
  let isPatienceRunning = false;
  let lastEndAt = -Infinity;

  /** Forgets those before the first one that is. */
  function isAnybodyQuick(now: number): boolean {
    for (let oldest = atWork[0]; oldest !== undefined; oldest = atWork[0]) {
      if (oldest.isQuick && now - oldest.beganAt < quickMs) return true;
      atWork.shift();
    }
    return false;
  }

  function awaitTurn(): void {
    if (isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(takeTurn);
  }

  function takeTurn(): void {
    isTurnAwaited = false;
    isTurnTaken = false;
    const [first] = line;
    if (first === undefined) return;
    const now = performance.now();
    const leftMs = first.askedAt + patienceMs - now;
    if (leftMs > 0 && isAnybodyQuick(now)) return waitFor(leftMs);
    line.shift();
    isTurnTaken = true;
    awaitTurn();
    first.begin();
  }

  /** Whoever ends wakes the line before that. */
  function waitFor(ms: number): void {
    if (isPatienceRunning) return;
    isPatienceRunning = true;
    setTimeout(() => {
      isPatienceRunning = false;
      awaitTurn();
    }, ms).unref();
  }

  function end({ atWork: one }: Noted): void {
    if (one === undefined) return;
    one.isQuick = false;
    if (line.length > 0) awaitTurn();
  }

  return {
    note({ res, state }) {
      const beganAt = performance.now();
      // Nobody else asks where nobody searches, and the list would grow.
      isAnybodyQuick(beganAt);
      state.atWork = { beganAt, isQuick: true };
      atWork.push(state.atWork);
      res.once('close', () => {
        if (state.atWork?.isQuick) lastEndAt = performance.now();
        end(state);
      });
    },
    yield: end,
    hasRecentRequests: () => performance.now() - lastEndAt < aboutMs,
    turn() {
      const askedAt = performance.now();
      const isFree = !isTurnTaken && line.length === 0 && !isAnybodyQuick(askedAt);
      awaitTurn();
      if (!isFree) return new Promise((begin) => line.push({ begin, askedAt }));
      isTurnTaken = true;
      return Promise.resolve();
    },
  };
}
