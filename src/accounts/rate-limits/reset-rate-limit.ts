import type { Database } from '../../db/index.ts';
import { networkPrefix, rateLimited } from '../../kernel/index.ts';
import { createAttemptCounter } from '../../nodes/index.ts';
import type { AccountSettings } from '../account-settings.ts';

/**
 * Counts password reset requests per address, whether or not an account has it, and per network. Mails per account have
 * their own limit.
 */
export interface ResetRateLimit {
  /** Counts one request. Throws `too_many_resets` (unavailable). @param key the address in the form for comparison */
  count(request: { key: string; network: string }): Promise<void>;
}

const hourSeconds = 60 * 60;

export function createResetRateLimit(
  deps: { db: Database },
  limits: Pick<AccountSettings, 'resetsPerAddressHour' | 'resetsPerNetworkHour'>,
): ResetRateLimit {
  const addresses = createAttemptCounter(deps, 'reset of address', hourSeconds);
  const networks = createAttemptCounter(deps, 'reset of network', hourSeconds);
  return {
    async count({ key, network }) {
      const [ofNetwork, ofAddress] = [await networks.add(networkPrefix(network)), await addresses.add(key)];
      const waitMs = Math.max(
        ofNetwork.count > limits.resetsPerNetworkHour ? ofNetwork.leftMs : 0,
        ofAddress.count > limits.resetsPerAddressHour ? ofAddress.leftMs : 0,
      );
      if (waitMs === 0) return;
      const message = 'A new password was asked for too often. Try again in an hour.';
      throw rateLimited('too_many_resets', message, Math.ceil(waitMs / 1000));
    },
  };
}
