import { RateLimiterMemory } from 'rate-limiter-flexible';
import { unavailable } from '../../kernel/index.ts';
import { foldHandle } from '../../owners/index.ts';
import { networkPrefix } from './network-prefix.ts';

/** The account and network of a sign-in. The account is the name as typed, whether or not it exists. */
export interface SignInAttempt {
  account: string;
  /** `null` when the sign-in does not come over the network. */
  address: string | null;
}

/**
 * Counts failed sign-ins per account and per network. Only passwords count: tokens and keys cannot be guessed, so an
 * attacker cannot lock people out of their work (security D04). In memory; a restart resets it.
 */
export interface SignInRateLimit {
  /** Refuses with `too_many_tries` while the account or the network is over its limit. */
  refuseExhausted(attempt: SignInAttempt): Promise<void>;
  /** Counts a failure in advance; refuses with `too_many_tries` when it exceeds the limit. */
  count(attempt: SignInAttempt): Promise<void>;
  /** Uncounts it: the password was right. */
  forgive(attempt: SignInAttempt): Promise<void>;
}

/** Names in a counter's key are truncated to this; a handle is shorter. */
const maxAccountKeyLength = 64;

export function createSignInRateLimit(limits: { failures: number; windowSeconds: number }): SignInRateLimit {
  const makeCounter = () => new RateLimiterMemory({ points: limits.failures, duration: limits.windowSeconds });
  const accounts = makeCounter();
  const networks = makeCounter();

  const countersOf = ({ account, address }: SignInAttempt): [RateLimiterMemory, string][] => [
    [accounts, foldHandle(account).slice(0, maxAccountKeyLength)],
    ...(address === null ? [] : [[networks, networkPrefix(address)] satisfies [RateLimiterMemory, string]]),
  ];

  async function forgive(attempt: SignInAttempt): Promise<void> {
    for (const [counter, key] of countersOf(attempt)) {
      // A window that ended meanwhile must not begin below zero.
      if (((await counter.get(key))?.consumedPoints ?? 0) > 0) await counter.reward(key);
    }
  }

  return {
    async refuseExhausted(attempt) {
      for (const [counter, key] of countersOf(attempt)) {
        const state = await counter.get(key);
        if (state !== null && state.consumedPoints >= limits.failures) throw tooManyAttempts(state.msBeforeNext);
      }
    },

    async count(attempt) {
      // Counted first and compared afterwards: two concurrent sign-ins cannot both be the last one allowed.
      const states = await Promise.all(countersOf(attempt).map(([counter, key]) => counter.penalty(key)));
      const exhausted = states.find((state) => state.consumedPoints > limits.failures);
      if (exhausted === undefined) return;
      await forgive(attempt);
      throw tooManyAttempts(exhausted.msBeforeNext);
    },

    forgive,
  };
}

function tooManyAttempts(waitMs: number) {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const minutes = Math.ceil(retryAfterSeconds / 60);
  return unavailable(
    'too_many_tries',
    `Too many wrong passwords. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    { retryAfterSeconds },
  );
}
