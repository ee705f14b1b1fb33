import type { PasswordCost } from './passwords/password-string.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The figures behind the rules of this room. */
export interface AccountSettings {
  passwordCost: PasswordCost;
  /** Password hashes computed at the same time; each takes its memory and a core. */
  hashesAtOnce: number;
  /** Callers that may wait for a hash; more are refused. */
  hashesWaiting: number;
  /** Wrong passwords per account and per network before sign-in is refused for a while. */
  signInFailures: number;
  signInWindowSeconds: number;
  /** A session ends when it was not used for this long … */
  sessionIdleMs: number;
  /** … and this long after sign-in in any case. */
  sessionLifetimeMs: number;
  setupTokenLifetimeMs: number;
  inviteLifetimeMs: number;
  /** "Last used" is written at most this often for each session, token and key. */
  lastUseIntervalMs: number;
  maxSessionsPerPerson: number;
  maxTokensPerPerson: number;
  maxKeysPerPerson: number;
}

export const defaultAccountSettings: AccountSettings = {
  // OWASP's first choice for argon2id; 36 ms on one core of 2026.
  passwordCost: { memoryKib: 19 * 1024, passes: 2, parallelism: 1 },
  hashesAtOnce: 2,
  hashesWaiting: 50,
  signInFailures: 10,
  signInWindowSeconds: 15 * 60,
  sessionIdleMs: 14 * dayMs,
  sessionLifetimeMs: 90 * dayMs,
  setupTokenLifetimeMs: dayMs,
  inviteLifetimeMs: 7 * dayMs,
  lastUseIntervalMs: minuteMs,
  maxSessionsPerPerson: 100,
  maxTokensPerPerson: 100,
  maxKeysPerPerson: 50,
};
