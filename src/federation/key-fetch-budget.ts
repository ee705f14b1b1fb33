import { createTokenBuckets } from '../kernel/index.ts';
import type { Clock } from '../kernel/index.ts';

/**
 * Burst of key fetches for unknown signers per network, and the refill per second. A request costs its sender nothing
 * but this server a signed GET, so without a limit anyone could make it send hundreds of requests per second to a peer.
 * Only a new peer brings a hundred unknown signers, and its refused deliveries are retried after a minute at the
 * earliest.
 */
const capacity = 120;
const perSecond = 1;

/** Limits the fetches for unknown signers. */
export interface KeyFetchBudget {
  /**
   * @param network network of the client, from `networkPrefix`
   * @param host of the key
   * @returns null if the fetch may start, otherwise the number of seconds to wait
   */
  take(network: string, host: string): number | null;
}

export function createKeyFetchBudget(clock: Clock): KeyFetchBudget {
  const buckets = createTokenBuckets(clock, { name: 'key fetch budgets', capacity, perSecond });
  return { take: (network) => buckets.take(network) };
}
