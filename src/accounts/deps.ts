import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { Owners } from '../owners/index.ts';
import type { AccountMail } from './ports/account-mail.ts';
import type { NoReplyAddresses } from './no-reply.ts';
import type { AccountSettings } from './account-settings.ts';
import type { LastUseRecorder } from './last-use.ts';
import type { AccountDeletionHook } from './ports/account-deletion-hook.ts';
import type { PasswordHasher } from './hashing/password-hasher.ts';
import type { SecurityListener } from './security-events.ts';
import type { CodeRateLimit } from './rate-limits/code-rate-limit.ts';
import type { ApplicationTokens } from './ports/application-tokens.ts';
import type { ResetRateLimit } from './rate-limits/reset-rate-limit.ts';
import type { SignUpHook } from './ports/sign-up-hook.ts';
import type { SignInRateLimit } from './rate-limits/sign-in-rate-limit.ts';

/** Dependencies of the use cases of this module. */
export interface AccountsDeps {
  db: Database;
  owners: Owners;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: AccountSettings;
  mail: AccountMail;
  /** Public origin of the server, for links in mails; null only without mail. */
  baseUrl: string | null;
  noReply: NoReplyAddresses;
  hasher: PasswordHasher;
  signInRateLimit: SignInRateLimit;
  lastUse: LastUseRecorder;
  /** Hooks that run before a user is deleted; registered by `app/`. */
  deletionHooks: AccountDeletionHook[];
  /** Listeners of security events; registered by modules that build on this one. */
  securityListeners: SecurityListener[];
  /** Hooks after a sign-up by invitation; registered by `app/`. */
  signUpHooks: SignUpHook[];
  resetRateLimit: ResetRateLimit;
  codeRateLimit: CodeRateLimit;
  /** Encrypts the secrets of authenticator apps, and signs passkey challenges. */
  instanceKey: InstanceKey;
  /** Application tokens; `port` is connected by `app/`. */
  applicationTokens: { port: ApplicationTokens | null };
  /** Background work without a waiting caller; awaited by `stop`. */
  background: Set<Promise<void>>;
}
