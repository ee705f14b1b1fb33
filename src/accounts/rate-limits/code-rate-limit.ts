import type { Database } from '../../db/index.ts';
import { rateLimited } from '../../kernel/index.ts';
import { createAttemptCounter } from '../../nodes/index.ts';
import type { AccountSettings } from '../account-settings.ts';
import { accountNetwork } from './account-network.ts';

/** A second step of a sign-in. Only clients that know the password, or have an equivalent proof, reach it. */
interface CodeAttempt {
  personId: string;
  address: string | null;
}

/**
 * Counts wrong codes. Six digits can be guessed, so app codes are also limited per user across networks; recovery codes
 * and passkeys cannot be guessed and stay available.
 */
export interface CodeRateLimit {
  /** Throws `too_many_tries` (unavailable) after too many wrong codes. @param isGuessable for app codes */
  refuseExhausted(attempt: CodeAttempt, isGuessable: boolean): Promise<void>;
  countWrong(attempt: CodeAttempt): Promise<void>;
}

const daySeconds = 24 * 60 * 60;

export function createCodeRateLimit(
  deps: { db: Database },
  limits: Pick<AccountSettings, 'codeFailures' | 'codeFailuresPerDay' | 'signInWindowSeconds'>,
): CodeRateLimit {
  const networks = createAttemptCounter(deps, 'code of network', limits.signInWindowSeconds);
  const people = createAttemptCounter(deps, 'code of person', daySeconds);
  const networkKey = ({ personId, address }: CodeAttempt) => `${personId} ${accountNetwork(address)}`;

  return {
    async refuseExhausted(attempt, isGuessable) {
      const ofNetwork = await networks.get(networkKey(attempt));
      if (ofNetwork.count >= limits.codeFailures) throw tooManyCodes(ofNetwork.leftMs, 'Too many wrong codes.');
      const ofPerson = isGuessable ? await people.get(attempt.personId) : null;
      if (ofPerson !== null && ofPerson.count >= limits.codeFailuresPerDay)
        throw tooManyCodes(
          ofPerson.leftMs,
          'Too many wrong codes of an app for this account. Use a recovery code or a passkey.',
        );
    },
    async countWrong(attempt) {
      await Promise.all([networks.add(networkKey(attempt)), people.add(attempt.personId)]);
    },
  };
}

function tooManyCodes(waitMs: number, message: string) {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const wait = minutes === 1 ? 'a minute' : minutes <= 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
  return rateLimited('too_many_tries', `${message} Try again in ${wait}.`, retryAfterSeconds);
}
