import type { PasswordCost } from './hashing/password-string.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Limits and hashing costs of this module. */
export interface AccountSettings {
  /** Public origin of the server if the administrator's settings have none. */
  baseUrl: string | null;
  passwordCost: PasswordCost;
  /** Password hashes computed at a time; each takes memory and a CPU core. */
  hashesAtOnce: number;
  /** Callers that may wait for a hash; further ones are rejected. */
  hashesWaiting: number;
  /** Failed sign-ins per account and per network before further ones are temporarily rejected. */
  signInFailures: number;
  signInWindowSeconds: number;
  /** A session expires after this idle time … */
  sessionIdleMs: number;
  /** … and after this time since sign-in in any case. */
  sessionLifetimeMs: number;
  /** A dangerous action requires a new proof if the latest is older than this. */
  confirmAfterMs: number;
  /** Time for the second factor after the first, and number of attempts. */
  challengeLifetimeMs: number;
  challengeAttempts: number;
  /** Wrong codes per user and network in the window of sign-ins, and app codes per user and day. */
  codeFailures: number;
  codeFailuresPerDay: number;
  /** Who must set up a second factor. */
  secondFactor: 'optional' | 'administrators' | 'everyone';
  maxPasskeysPerPerson: number;
  setupTokenLifetimeMs: number;
  inviteLifetimeMs: number;
  /** Minimum time between two writes of "last used" of a session, token or key. */
  lastUseIntervalMs: number;
  maxSessionsPerPerson: number;
  maxTokensPerPerson: number;
  maxKeysPerPerson: number;
  /** Deploy keys per repository. */
  maxDeployKeys: number;
  maxAddressesPerPerson: number;
  /** Mails with a link per hour and user. */
  linkMailsPerHour: number;
  /** Mails per hour to one address, for all users: higher than per user, so that no user exhausts another's limit. */
  linkMailsPerAddressHour: number;
  verificationLifetimeMs: number;
  /** Lifetime of a mailed password reset link. */
  resetLifetimeMs: number;
  /** Lifetime of a reset link handed out by an administrator, which takes longer to arrive. */
  handedResetLifetimeMs: number;
  /** How people sign up: only by invitation, or also by a request that an administrator approves. */
  signUp: 'invite' | 'approval';
  /** Whether users may sign in with a password. */
  passwordSignIn: boolean;
  /** Issuers of the providers for sign-in. */
  providerIssuers: readonly string[];
  /** Lifetime of a sign-in link handed out by an administrator. */
  signInLinkLifetimeMs: number;
  /** Password reset requests per hour, for one address and from one network, before further ones are rejected. */
  resetsPerAddressHour: number;
  resetsPerNetworkHour: number;
}

export const defaultAccountSettings: AccountSettings = {
  baseUrl: null,
  // OWASP's first recommendation for argon2id; 36 ms on one core of 2026.
  passwordCost: { memoryKib: 19 * 1024, passes: 2, parallelism: 1 },
  hashesAtOnce: 2,
  hashesWaiting: 50,
  signInFailures: 10,
  signInWindowSeconds: 15 * 60,
  sessionIdleMs: 14 * dayMs,
  sessionLifetimeMs: 90 * dayMs,
  confirmAfterMs: 10 * minuteMs,
  challengeLifetimeMs: 10 * minuteMs,
  challengeAttempts: 5,
  codeFailures: 10,
  codeFailuresPerDay: 50,
  secondFactor: 'optional',
  maxPasskeysPerPerson: 20,
  setupTokenLifetimeMs: dayMs,
  inviteLifetimeMs: 7 * dayMs,
  lastUseIntervalMs: minuteMs,
  maxSessionsPerPerson: 100,
  maxTokensPerPerson: 100,
  maxKeysPerPerson: 50,
  maxDeployKeys: 50,
  maxAddressesPerPerson: 20,
  linkMailsPerHour: 5,
  linkMailsPerAddressHour: 10,
  verificationLifetimeMs: dayMs,
  resetLifetimeMs: 60 * minuteMs,
  handedResetLifetimeMs: dayMs,
  signUp: 'invite',
  passwordSignIn: true,
  providerIssuers: [],
  signInLinkLifetimeMs: 30 * minuteMs,
  resetsPerAddressHour: 5,
  resetsPerNetworkHour: 20,
};
