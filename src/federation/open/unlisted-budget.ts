import { createTokenBuckets } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import type { KeyFetchBudget } from '../key-fetch-budget.ts';

/**
 * Fetches for signers on unlisted servers: limited per network as for others, with lower limits per server and in
 * total, so that ten thousand servers at once cost as much as ten.
 */
export function createUnlistedBudget(clock: Clock, allowance = { perHost: 30, total: 300 }): KeyFetchBudget {
  const ofNetwork = createTokenBuckets(clock, {
    name: 'key fetches of unlisted by network',
    capacity: 120,
    perSecond: 1,
  });
  const ofHost = createTokenBuckets(clock, {
    name: 'key fetches of unlisted by server',
    capacity: allowance.perHost,
    perSecond: 0.5,
  });
  const ofAll = createTokenBuckets(clock, {
    name: 'key fetches of unlisted',
    capacity: allowance.total,
    perSecond: 10,
  });
  return {
    // Checks the network first: one that floods takes nothing from the rest.
    take: (network, host) => ofNetwork.take(network) ?? ofHost.take(host) ?? ofAll.take('all'),
  };
}
