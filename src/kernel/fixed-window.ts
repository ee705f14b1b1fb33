/** A count since a time, in milliseconds since the epoch. */
export interface FixedWindow {
  startedAt: number;
  count: number;
}

/** The current window: a new, empty one if there is none, it is over, or the clock was set back. */
export const currentWindow = (window: FixedWindow | undefined, lengthMs: number, now: number): FixedWindow =>
  window === undefined || now >= window.startedAt + lengthMs || now < window.startedAt
    ? { startedAt: now, count: 0 }
    : window;
