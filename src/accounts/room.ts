import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Owners } from '../owners/index.ts';
import type { AccountSettings } from './account-settings.ts';
import type { LastUseRecorder } from './last-use.ts';
import type { Farewell } from './people/farewell.ts';
import type { PasswordHasher } from './passwords/password-hasher.ts';
import type { SignInTries } from './sessions/sign-in-tries.ts';

/** What every use-case of this room works with. */
export interface AccountsRoom {
  db: Database;
  owners: Owners;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: AccountSettings;
  hasher: PasswordHasher;
  tries: SignInTries;
  lastUse: LastUseRecorder;
  /** Who hears that a person is about to go; plugged in by `app.ts`. */
  farewells: Farewell[];
}
