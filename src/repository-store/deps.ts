import type { CacheMetrics } from './cache-metrics.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';

export interface StoreDeps {
  db: Database;
  /** This machine's git, which works on folders. */
  local: Git;
  /** Without caches of recently sent objects: objects it reports must exist in the store. */
  objects: ObjectStore;
  /** Folders whose paths represent repositories: that of all owners, and the trash. Copies elsewhere are only files. */
  roots: readonly string[];
  /** Folder of the caches. */
  directory: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  metrics: CacheMetrics;
}
