/** How long one turn of the event loop may last, in milliseconds. */
const turnMs = 8;

/** When the present turn began to take long steps; null while it has taken none. */
let beganAt: number | null = null;
/** Oldest first. */
const waiting: (() => void)[] = [];

/**
 * To be asked before a step that takes some milliseconds. Undefined when the step may begin at once; otherwise a
 * promise that resolves in a later turn of the event loop. The steps of all requests share one turn: four answers of
 * many megabytes would otherwise take four times as long between two turns, in which nobody else is answered.
 */
export function shareTurn(): Promise<void> | undefined {
  const now = performance.now();
  if (beganAt === null) begin(now);
  else if (waiting.length > 0 || now - beganAt > turnMs) return new Promise((resolve) => void waiting.push(resolve));
  return undefined;
}

function begin(now: number): void {
  beganAt = now;
  setImmediate(endTurn);
}

/** One that waits begins in each turn: how long it takes shows only afterwards. */
function endTurn(): void {
  const next = waiting.shift();
  if (next === undefined) {
    beganAt = null;
    return;
  }
  begin(performance.now());
  next();
}
