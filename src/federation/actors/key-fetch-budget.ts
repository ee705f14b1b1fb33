import { createTokenBuckets } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';

/**
 * Key fetches for unknown signers that one network may cause at once, and the refill per second. A request costs its
 * sender nothing and this server a signed GET, so without a limit anyone could make it send hundreds of requests per
 * second to a peer. Only a new peer brings a hundred unknown signers, and a refused delivery is retried after a minute
 * at the earliest.
 */
const capacity = 120;
const perSecond = 1;

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
  const buckets = createTokenBuckets(clock, { name: 'key fetch budgets', capacity, perSecond });
  return { take: (network) => buckets.take(network) };
}
