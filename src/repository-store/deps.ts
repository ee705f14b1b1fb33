import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';

export interface StoreDeps {
  db: Database;
  /** The git of this machine, which works on folders. */
  local: Git;
  /** Without copies of what was sent lately: what it says to have, the store has. */
  objects: ObjectStore;
  /** Folders whose paths stand for repositories: that of all owners, and the trash. Copies elsewhere are only files. */
  roots: readonly string[];
  /** The folder of the caches. */
  directory: string;
  clock: Clock;
  random: Random;
  logger: Logger;
}
