import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { WorkerPool } from '../workers/index.ts';

/** Dependencies of the use-cases of this module. */
export interface SigningDeps {
  db: Database;
  accounts: Pick<Accounts, 'addresses' | 'announceSecurityEvent' | 'keyHolders' | 'personById' | 'peopleById'>;
  workers: WorkerPool;
  /** Encrypts the private half of the server's key. */
  instanceKey: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: SigningSettings;
}

interface SigningSettings {
  /** Limit of OpenPGP keys per user. */
  maxKeysPerPerson: number;
}
