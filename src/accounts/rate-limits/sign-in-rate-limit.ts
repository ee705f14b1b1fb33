import type { Database } from '../../db/index.ts';
import { networkPrefix, rateLimited } from '../../kernel/index.ts';
import { createAttemptCounter } from '../../nodes/index.ts';
import type { AttemptCounter } from '../../nodes/index.ts';
import { foldHandle } from '../../owners/index.ts';
import { accountNetwork } from './account-network.ts';

/** The account and network of a sign-in. The account is the name as typed, existing or not. */
interface SignInAttempt {
  account: string;
  /** `null` if the sign-in does not come over the network. */
  address: string | null;
}

/**
 * Counts failed sign-ins per account and network, and per network for all accounts. Wrong passwords from elsewhere lock
 * nobody out: names are public, so an attacker could otherwise lock out any user (security D04). If an account is
 * guessed at from many networks, each of them gets fewer attempts, which a user with the right password does not need.
 * Counts only passwords: tokens and keys cannot be guessed.
 */
export interface SignInRateLimit {
  /** Throws `too_many_tries` while the account from this network, or the network, is over its limit. */
  refuseExhausted(attempt: SignInAttempt): Promise<void>;
  /** Counts a failure in advance; throws `too_many_tries` if it exceeds the limit. */
  count(attempt: SignInAttempt): Promise<void>;
  /** Undoes the count: the password was right. */
  forgive(attempt: SignInAttempt): Promise<void>;
}

/** Names in a counter's key are truncated to this length; handles are shorter. */
const maxAccountKeyLength = 64;

/** An account counts as guessed at from many networks after this multiple of the limit per network. */
const manyNetworks = 5;
/** The failures that each network has then. */
const fewFailures = 3;

export function createSignInRateLimit(
  deps: { db: Database },
  limits: { failures: number; windowSeconds: number },
): SignInRateLimit {
  const makeCounter = (of: string) => createAttemptCounter(deps, `sign-in of ${of}`, limits.windowSeconds);
  /** Counts an account's failures from all networks: rejects nothing by itself. */
  const accounts = makeCounter('account');
  const pairs = makeCounter('account and network');
  const networks = makeCounter('network');

  const accountKey = ({ account }: SignInAttempt): string => foldHandle(account).slice(0, maxAccountKeyLength);
  const limitedCounters = (attempt: SignInAttempt): [AttemptCounter, string][] => [
    [pairs, `${accountKey(attempt)} ${accountNetwork(attempt.address)}`],
    ...(attempt.address === null
      ? []
      : [[networks, networkPrefix(attempt.address)] satisfies [AttemptCounter, string]]),
  ];

  async function limitOf(counter: AttemptCounter, attempt: SignInAttempt): Promise<number> {
    if (counter !== pairs) return limits.failures;
    const ofAll = await accounts.get(accountKey(attempt));
    const isGuessedAt = ofAll.count > manyNetworks * limits.failures;
    return isGuessedAt ? Math.min(fewFailures, limits.failures) : limits.failures;
  }

  async function forgive(attempt: SignInAttempt): Promise<void> {
    for (const [counter, key] of [[accounts, accountKey(attempt)] as const, ...limitedCounters(attempt)])
      await counter.takeBack(key);
  }

  return {
    async refuseExhausted(attempt) {
      for (const [counter, key] of limitedCounters(attempt)) {
        const state = await counter.get(key);
        if (state.count >= (await limitOf(counter, attempt))) throw tooManyAttempts(state.leftMs);
      }
    },

    async count(attempt) {
      await accounts.add(accountKey(attempt));
      // Counts first and compares afterwards: two concurrent sign-ins cannot both be the last one allowed.
      const counters = limitedCounters(attempt);
      const states = await Promise.all(counters.map(([counter, key]) => counter.add(key)));
      const bounds = await Promise.all(counters.map(([counter]) => limitOf(counter, attempt)));
      const exhausted = states.find((state, at) => state.count > bounds[at]!);
      if (exhausted === undefined) return;
      await forgive(attempt);
      throw tooManyAttempts(exhausted.leftMs);
    },

    forgive,
  };
}

function tooManyAttempts(waitMs: number) {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const minutes = Math.ceil(retryAfterSeconds / 60);
  return rateLimited(
    'too_many_tries',
    `Too many wrong passwords. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    retryAfterSeconds,
  );
}
