import { createLru } from '../kernel/index.ts';
import type { Clock } from '../kernel/index.ts';

export interface BucketRate {
  /** Tokens of a full bucket. */
  capacity: number;
  /** The time in which an empty bucket fills, in milliseconds. */
  refillMs: number;
}

/** Token buckets by key: each key may take `capacity` at once and as many again in `refillMs`. */
interface TokenBuckets {
  /** Takes tokens when there is at least one; more than are left leaves a debt. */
  take(key: string, count?: number): boolean;
  /** Takes tokens for what has been done already. */
  charge(key: string, count: number): void;
}

/** Keys that are remembered; a forgotten one starts with a full bucket. */
const maxKeys = 10_000;

export function createTokenBuckets(clock: Clock, name: string, { capacity, refillMs }: BucketRate): TokenBuckets {
  const buckets = createLru<string, { tokens: number; at: number }>({ name, maxWeight: maxKeys });
  function bucketOf(key: string): { tokens: number; at: number } {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: capacity, at: now };
    bucket.tokens = Math.min(capacity, bucket.tokens + (Math.max(0, now - bucket.at) * capacity) / refillMs);
    bucket.at = now;
    buckets.set(key, bucket);
    return bucket;
  }
  return {
    take(key, count = 1) {
      const bucket = bucketOf(key);
      if (bucket.tokens < 1) return false;
      bucket.tokens -= count;
      return true;
    },
    charge: (key, count) => void (bucketOf(key).tokens -= count),
  };
}
