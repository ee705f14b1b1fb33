import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, KeyedMutex, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { LfsSettings } from './settings.ts';

/** Dependencies of the use cases in this module. */
export interface LfsDeps {
  db: Database;
  accounts: Pick<Accounts, 'peopleById' | 'deployKeys'>;
  repositories: Pick<Repositories, 'openForRead' | 'openForPush' | 'findMoved' | 'factsOf' | 'mayPropose' | 'locate'>;
  git: Pick<Git, 'objects' | 'queries' | 'refs'>;
  objects: ObjectStore;
  /** Signs transfer tokens. */
  instanceKey: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: LfsSettings;
  /** Keyed by object: serialises storing its row and removing its file. */
  inTurn: KeyedMutex<string>;
  counters: LfsCounters;
}

/** Transfers by this process, for the metrics. */
export interface LfsCounters {
  uploads: number;
  uploadedBytes: number;
  downloads: number;
  downloadedBytes: number;
  refusedUploads: number;
}
