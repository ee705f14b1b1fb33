import type { PasswordCost } from './passwords/password-string.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Limits and costs of this module. */
export interface AccountSettings {
  /** Public origin of the server, when the administrator's settings have none. */
  baseUrl: string | null;
  passwordCost: PasswordCost;
  /** Password hashes computed at a time; each takes memory and a CPU core. */
  hashesAtOnce: number;
  /** Callers that may wait for a hash; more are refused. */
  hashesWaiting: number;
  /** Failed sign-ins per account and per network before further ones are refused for a while. */
  signInFailures: number;
  signInWindowSeconds: number;
  /** A session expires when it was not used for this long … */
  sessionIdleMs: number;
  /** … and this long after sign-in in any case. */
  sessionLifetimeMs: number;
  /** A dangerous act asks for another proof when the latest is older than this. */
  confirmAfterMs: number;
  /** Time for the second factor after the first, and answers that may be given to it. */
  challengeLifetimeMs: number;
  challengeAttempts: number;
  /** Wrong codes per person and network in the window of sign-ins, and of an app per person in a day. */
  codeFailures: number;
  codeFailuresPerDay: number;
  /** Who has to set up a second factor. */
  secondFactor: 'optional' | 'administrators' | 'everyone';
  maxPasskeysPerPerson: number;
  setupTokenLifetimeMs: number;
  inviteLifetimeMs: number;
  /** Minimum time between two writes of "last used" of a session, token or key. */
  lastUseIntervalMs: number;
  maxSessionsPerPerson: number;
  maxTokensPerPerson: number;
  maxKeysPerPerson: number;
  /** Deploy keys of one repository. */
  maxDeployKeys: number;
  maxAddressesPerPerson: number;
  /** Mails with a link in an hour, for one person. */
  linkMailsPerHour: number;
  /** The same to one address, for all people: more than for one person, so that nobody uses up another's. */
  linkMailsPerAddressHour: number;
  verificationLifetimeMs: number;
  /** Of a mailed link for a new password. */
  resetLifetimeMs: number;
  /** Of one that an administrator hands out, which takes longer to arrive. */
  handedResetLifetimeMs: number;
  /** How people come in: by an invitation alone, or also by a request that an administrator approves. */
  signUp: 'invite' | 'approval';
  /** Whether people may sign in with a password. */
  passwordSignIn: boolean;
  /** Issuers of the providers that people may sign in at. */
  providerIssuers: readonly string[];
  /** Of a link that signs a person in, which an administrator hands out. */
  signInLinkLifetimeMs: number;
  /** Requests for a new password in an hour, for one address and from one network, before further ones are refused. */
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
