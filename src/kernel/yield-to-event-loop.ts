/** Time in milliseconds that the steps of one iteration of the event loop may take. */
const sliceMs = 8;

/** When the first step of this iteration began; null if there was none. */
let beganAt: number | null = null;
/** Oldest first. */
const waiting: (() => void)[] = [];

/**
 * Cooperative scheduling, called before a step that takes some milliseconds. Undefined if the step may begin at once;
 * otherwise a promise that resolves in a later iteration of the event loop. The steps of all requests share a time
 * slice: with one for each, four large responses would delay every other request four times as long.
 */
export function yieldToEventLoop(): Promise<void> | undefined {
  const now = performance.now();
  if (beganAt === null) begin(now);
  else if (waiting.length > 0 || now - beganAt > sliceMs) return new Promise((resolve) => void waiting.push(resolve));
  return undefined;
}

function begin(now: number): void {
  beganAt = now;
  setImmediate(endIteration);
}

/** One waiting step begins in each iteration: its duration is only known afterwards. */
function endIteration(): void {
  const next = waiting.shift();
  if (next === undefined) {
    beganAt = null;
    return;
  }
  begin(performance.now());
  next();
}
