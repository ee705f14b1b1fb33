import { createLru } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';

/**
 * Key fetches for unknown signers that one network may cause at once, and how many more each second.
 * A request costs its sender nothing and us a signed GET, so without a limit anybody could make this
 * server knock at a peer hundreds of times a second. A peer brings a hundred signers that were never
 * seen here only when it is new, and a refused delivery comes again after a minute at the earliest.
 */
const burst = 120;
const perSecond = 1;
/** Networks that are remembered; a forgotten one has its full budget again. */
const maxNetworks = 10_000;

/** A token bucket per network of the client address. */
export interface KeyFetchBudget {
  /**
   * @param network as `addressGroup` gives it
   * @returns null when the fetch may begin, else after how many seconds one may
   */
  take(network: string): number | null;
}

export function createKeyFetchBudget(clock: Clock): KeyFetchBudget {
  const buckets = createLru<string, { left: number; at: number }>({
    name: 'key fetch budgets',
    maxWeight: maxNetworks,
  });
  return {
    take(network) {
      const now = clock.now();
      const bucket = buckets.get(network) ?? { left: burst, at: now };
      bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      buckets.set(network, bucket);
      if (bucket.left < 1) return Math.ceil((1 - bucket.left) / perSecond);
      bucket.left -= 1;
      return null;
    },
  };
}
