import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { InstanceKey } from '../sealing/index.ts';

/** Dependencies of the use-cases of this module. */
export interface OAuthDeps {
  db: Database;
  clock: Clock;
  random: Random;
  logger: Logger;
  key: InstanceKey;
}
