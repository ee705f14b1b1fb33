import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Owners } from '../owners/index.ts';
import type { AccountMail } from './addresses/account-mail.ts';
import type { NoReplyAddresses } from './addresses/no-reply.ts';
import type { AccountSettings } from './account-settings.ts';
import type { LastUseRecorder } from './last-use.ts';
import type { AccountDeletionHook } from './people/account-deletion-hook.ts';
import type { PasswordHasher } from './passwords/password-hasher.ts';
import type { SignInRateLimit } from './sessions/sign-in-rate-limit.ts';

/** The dependencies of every use-case of this module. */
export interface AccountsDeps {
  db: Database;
  owners: Owners;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: AccountSettings;
  mail: AccountMail;
  noReply: NoReplyAddresses;
  hasher: PasswordHasher;
  signInRateLimit: SignInRateLimit;
  lastUse: LastUseRecorder;
  /** Hooks that run before a person is deleted; registered by `app.ts`. */
  deletionHooks: AccountDeletionHook[];
}
