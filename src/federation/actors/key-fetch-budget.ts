import { createLru } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';

/**
 * Key fetches for unknown signers that one network may cause at once, and the refill per second. A request costs its
 * sender nothing and this server a signed GET, so without a limit anyone could make it send hundreds of requests per
 * second to a peer. Only a new peer brings a hundred unknown signers, and a refused delivery is retried after a minute
 * at the earliest.
 */
const burst = 120;
const perSecond = 1;
/** Limit of remembered networks; an evicted one has its full budget again. */
const maxNetworks = 10_000;

/** A token bucket per network of the client address. */
export interface KeyFetchBudget {
  /**
   * @param network as `addressGroup` gives it
   * @returns null when the fetch may start, else the number of seconds to wait
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
