const minuteMs = 60_000;
const maxBackoffMs = 3_600_000;

/**
 * Delay in milliseconds after a number of failed attempts: 1, 2, 4, … minutes, at most an hour (SPEC §3). Needs no
 * jitter: the limit of each key spreads messages that become due at the same time.
 */
export const backoffMs = (attempts: number): number =>
  Math.min(maxBackoffMs, minuteMs * 2 ** Math.min(Math.max(attempts - 1, 0), 6));
