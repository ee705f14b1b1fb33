import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Outbound } from '../outbound/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { InstanceKey } from '../sealing/index.ts';

/** What the use-cases of this room work with. */
export interface MirrorDeps {
  db: Database;
  repositories: Pick<Repositories, 'applyUpdates' | 'create' | 'edit' | 'locate'>;
  git: Git;
  outbound: Outbound;
  key: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** What is under way, by repository, in git's words; gone when it ends. */
  progress: Map<string, string>;
  settings: { caFile: string | null /** How this server names itself, for the comment of a key. */; name: string };
}
