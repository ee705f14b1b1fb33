/** How long the steps of one iteration of the event loop may take, in milliseconds. */
const sliceMs = 8;

/** When the first step of this iteration began; null while there was none. */
let beganAt: number | null = null;
/** Oldest first. */
const waiting: (() => void)[] = [];

/**
 * Cooperative scheduling, to be called before a step that takes some milliseconds. Undefined when the step may begin at
 * once; otherwise a promise that resolves in a later iteration of the event loop. The steps of all requests share a
 * time slice: with one for each, four large responses would delay every other request four times as long.
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

/** One waiting step begins in each iteration: how long it takes is only known afterwards. */
function endIteration(): void {
  const next = waiting.shift();
  if (next === undefined) {
    beganAt = null;
    return;
  }
  begin(performance.now());
  next();
}
