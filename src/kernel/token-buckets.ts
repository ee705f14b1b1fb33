import type { Clock } from './clock.ts';
import { createLru } from './lru.ts';

export interface BucketRate {
  /** Tokens in a full bucket. */
  capacity: number;
  perSecond: number;
}

/** Token buckets by key, in memory. Each key may take `capacity` at once, and then the refill of its bucket. */
interface TokenBuckets {
  /** The remaining tokens; negative after a debt. */
  left(key: string): number;
  /**
   * Takes tokens if at least one is left; taking more than that creates a debt.
   * @returns null, or the number of seconds until there is one
   */
  take(key: string, count?: number): number | null;
  /** Takes tokens for work that was already done. */
  charge(key: string, count: number): void;
}

/**
 * @param options.maxKeys number of remembered keys; a forgotten one has a full bucket again
 */
export function createTokenBuckets(
  clock: Clock,
  { name, capacity, perSecond, maxKeys = 10_000 }: BucketRate & { name: string; maxKeys?: number },
): TokenBuckets {
  const buckets = createLru<string, { left: number; at: number }>({ name, maxWeight: maxKeys });
  function bucketOf(key: string): { left: number; at: number } {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { left: capacity, at: now };
    bucket.left = Math.min(capacity, bucket.left + (Math.max(0, now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    buckets.set(key, bucket);
    return bucket;
  }
  return {
    left: (key) => bucketOf(key).left,
    take(key, count = 1) {
      const bucket = bucketOf(key);
      if (bucket.left < 1) return Math.ceil((1 - bucket.left) / perSecond);
      bucket.left -= count;
      return null;
    },
    charge: (key, count) => void (bucketOf(key).left -= count),
  };
}
