/** How often a listener was tried with an event, after the first announcement. */
export interface Tries {
  /** Attempts that ended with an error, and the one that runs. */
  attempts: number;
  /** Attempts that the end of the server cut off. */
  ends: number;
  /** When the attempt that runs began, in epoch milliseconds; stays when the server ends meanwhile. */
  begunAt: number | null;
}

/** Attempts per listener and event that end with an error; then the event is parked. */
export const maxAttempts = 3;

/**
 * A machine that loses power, or an update that kills, says nothing about a listener. After the second end it is tried
 * only once the server has been up for a minute, after the fourth for five: a server that is killed again and again
 * does not come so far, a listener that takes it down does, and is parked after the seventh.
 */
const pauses: readonly { fromEnds: number; uptimeMs: number }[] = [
  { fromEnds: 4, uptimeMs: 5 * 60_000 },
  { fromEnds: 2, uptimeMs: 60_000 },
];
const maxEnds = 6;

/** Parked by ends alone; a start that has been good for ten minutes tries such a listener once more. */
export const parkedByEnds = maxEnds + 1;
export const triedOnceMore = maxEnds + 2;
export const quietUptimeMs = 10 * 60_000;

/** The tries when a server finds them: an attempt that began before its start was cut off. */
export function cutOff({ attempts, ends, begunAt }: Tries, { startedAt }: { startedAt: number }): Tries {
  if (begunAt === null) return { attempts, ends, begunAt };
  // One of this process is still running, or did not come to record its end.
  return { attempts: Math.max(0, attempts - 1), ends: begunAt <= startedAt ? ends + 1 : ends, begunAt: null };
}

export const isExhausted = ({ attempts, ends }: Tries): boolean =>
  attempts >= maxAttempts || (ends > maxEnds && ends !== triedOnceMore);

/** Whether the server has not been up for long enough. */
export function isTooSoon({ ends }: Tries, { startedAt, now }: { startedAt: number; now: number }): boolean {
  const pause = pauses.find(({ fromEnds }) => ends >= fromEnds);
  return pause !== undefined && now - startedAt < pause.uptimeMs;
}

/** What happens to a listener next. */
export function nextTry(
  tries: Tries,
  time: { startedAt: number; now: number },
): 'try' | 'last try' | 'exhausted' | 'later' {
  if (isExhausted(tries)) return 'exhausted';
  if (isTooSoon(tries, time)) return 'later';
  return tries.attempts + 1 === maxAttempts ? 'last try' : 'try';
}
