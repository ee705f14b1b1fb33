import type { Digest } from '../schema/channel-schema.ts';

const dayMs = 24 * 60 * 60_000;
const weekMs = 7 * dayMs;
/** Hour of the day at which digests are sent, in UTC. */
const hour = 6;
/** The first day of the epoch was a Thursday: this is the Monday before it, at the hour. */
const firstMonday = -3 * dayMs + hour * 60 * 60_000;

/** Time of the digest that contains current events, milliseconds since the epoch: at 6:00 UTC, weekly on Monday. */
export function nextDigest(now: number, digest: Exclude<Digest, 'immediately'>): number {
  const period = digest === 'daily' ? dayMs : weekMs;
  return firstMonday + (Math.floor((now - firstMonday) / period) + 1) * period;
}
