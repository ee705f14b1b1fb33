import type { Accounts, Person } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { WorkerPool } from '../workers/index.ts';

/** Whose an e-mail address is, among verified and no-reply addresses; keys of the map as asked. */
export interface AddressOwners {
  peopleByAddress(addresses: string[]): Promise<Map<string, Person>>;
}

/** What the use-cases of this module need. */
export interface SigningDeps {
  db: Database;
  accounts: Pick<Accounts, 'keyHolders' | 'personById' | 'peopleById'>;
  addresses: AddressOwners;
  workers: WorkerPool;
  /** Encrypts the private half of the server's key. */
  instanceKey: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: SigningSettings;
}

export interface SigningSettings {
  /** OpenPGP keys that one person may have. */
  maxKeysPerPerson: number;
  /** The host in addresses that this server makes, such as `git.example.org`. */
  host: string;
}
