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

/** What limits the fetches for unknown signers. */
export interface KeyFetchBudget {
  /**
   * @param network of the client, as `networkPrefix` gives it
   * @param host of the key
   * @returns null when the fetch may start, else the number of seconds to wait
   */
  take(network: string, host: string): number | null;
}

export function createKeyFetchBudget(clock: Clock): KeyFetchBudget {
  return createTokenBuckets(clock, { name: 'key fetch budgets', burst, perSecond });
}

interface TokenBuckets {
  /** @returns null when there was a token, else the number of seconds until there is one */
  take(key: string): number | null;
}

/** A token bucket per key; the least used ones are forgotten. */
export function createTokenBuckets(
  clock: Clock,
  { name, burst, perSecond }: { name: string; burst: number; perSecond: number },
): TokenBuckets {
  const buckets = createLru<string, { left: number; at: number }>({ name, maxWeight: maxNetworks });
  return {
    take(key) {
      const now = clock.now();
      const bucket = buckets.get(key) ?? { left: burst, at: now };
      bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      buckets.set(key, bucket);
      if (bucket.left < 1) return Math.ceil((1 - bucket.left) / perSecond);
      bucket.left -= 1;
      return null;
    },
  };
}
