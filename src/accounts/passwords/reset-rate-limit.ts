import { RateLimiterMemory } from 'rate-limiter-flexible';
import { rateLimited } from '../../kernel/index.ts';
import type { AccountSettings } from '../account-settings.ts';
import { networkPrefix } from '../sessions/network-prefix.ts';

/**
 * Counts requests for a new password per address, whether or not an account has it, and per network. In memory; the
 * mails of an account are limited in the database besides.
 */
export interface ResetRateLimit {
  /** Counts one request. Refuses with `too_many_resets` (unavailable). @param key the address as it is compared */
  count(request: { key: string; network: string }): Promise<void>;
}

const hourSeconds = 60 * 60;

export function createResetRateLimit(
  limits: Pick<AccountSettings, 'resetsPerAddressHour' | 'resetsPerNetworkHour'>,
): ResetRateLimit {
  const addresses = new RateLimiterMemory({ points: limits.resetsPerAddressHour, duration: hourSeconds });
  const networks = new RateLimiterMemory({ points: limits.resetsPerNetworkHour, duration: hourSeconds });
  return {
    async count({ key, network }) {
      const [ofNetwork, ofAddress] = [await networks.penalty(networkPrefix(network)), await addresses.penalty(key)];
      const waitMs = Math.max(
        ofNetwork.consumedPoints > limits.resetsPerNetworkHour ? ofNetwork.msBeforeNext : 0,
        ofAddress.consumedPoints > limits.resetsPerAddressHour ? ofAddress.msBeforeNext : 0,
      );
      if (waitMs === 0) return;
      const message = 'A new password was asked for too often. Try again in an hour.';
      throw rateLimited('too_many_resets', message, Math.ceil(waitMs / 1000));
    },
  };
}
