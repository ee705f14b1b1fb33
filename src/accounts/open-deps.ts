import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Owners } from '../owners/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import { noMail } from './ports/account-mail.ts';
import type { AccountMail } from './ports/account-mail.ts';
import { createNoReplyAddresses } from './no-reply.ts';
import { defaultAccountSettings } from './account-settings.ts';
import type { AccountSettings } from './account-settings.ts';
import { createLastUseRecorder } from './last-use.ts';
import { createPasswordHasher } from './hashing/password-hasher.ts';
import { createResetRateLimit } from './rate-limits/reset-rate-limit.ts';
import type { AccountsDeps } from './deps.ts';
import { createCodeRateLimit } from './rate-limits/code-rate-limit.ts';
import { createSignInRateLimit } from './rate-limits/sign-in-rate-limit.ts';

export interface AccountsOptions {
  db: Database;
  owners: Owners;
  clock: Clock;
  random: Random;
  logger: Logger;
  instanceKey: InstanceKey;
  /** The administrator's settings. */
  config?: SettingsConfig & Pick<Config, 'baseUrl'>;
  /** Without it, no mail is sent. */
  mail?: AccountMail;
  /** Other overrides of `defaultAccountSettings`: tests use a cheap hash. */
  settings?: Partial<AccountSettings>;
}

/** Dependencies of the use cases of this module, with the administrator's settings. */
export function openDeps({ config, settings: changed, mail = noMail, ...tools }: AccountsOptions): AccountsDeps {
  const { db, clock, logger, random } = tools;
  const settings: AccountSettings = { ...defaultAccountSettings, ...(config && settingsOf(config)), ...changed };
  return {
    ...tools,
    settings,
    mail,
    baseUrl: config?.baseUrl ?? settings.baseUrl,
    noReply: createNoReplyAddresses(config?.baseUrl ?? settings.baseUrl),
    hasher: createPasswordHasher({
      cost: settings.passwordCost,
      atOnce: settings.hashesAtOnce,
      waiting: settings.hashesWaiting,
      random,
    }),
    signInRateLimit: createSignInRateLimit(tools, {
      failures: settings.signInFailures,
      windowSeconds: settings.signInWindowSeconds,
    }),
    lastUse: createLastUseRecorder({ db, clock, logger, intervalMs: settings.lastUseIntervalMs }),
    deletionHooks: [],
    securityListeners: [],
    signUpHooks: [],
    resetRateLimit: createResetRateLimit(tools, settings),
    codeRateLimit: createCodeRateLimit(tools, settings),
    applicationTokens: { port: null },
    background: new Set(),
  };
}

type SettingsConfig = Pick<Config, 'accounts' | 'oidc' | 'sessions' | 'tokens' | 'keys' | 'addresses'>;

function settingsOf({ accounts, oidc, sessions, tokens, keys, addresses }: SettingsConfig): Partial<AccountSettings> {
  return {
    secondFactor: accounts.secondFactor,
    signUp: accounts.signUp,
    passwordSignIn: accounts.passwordSignIn,
    providerIssuers: oidc.providers.map(({ issuer }) => issuer),
    sessionIdleMs: sessions.idleMs,
    sessionLifetimeMs: sessions.lifetimeMs,
    confirmAfterMs: sessions.confirmAfterMs,
    maxTokensPerPerson: tokens.maxPerPerson,
    maxKeysPerPerson: keys.maxPerPerson,
    maxDeployKeys: keys.maxPerRepository,
    maxAddressesPerPerson: addresses.maxPerPerson,
    linkMailsPerHour: addresses.mailsPerHour,
    linkMailsPerAddressHour: 2 * addresses.mailsPerHour,
  };
}
