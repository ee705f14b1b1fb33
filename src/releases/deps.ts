import type { Accounts } from '../accounts/index.ts';
import type { Database, Tx } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { Pulls } from '../pulls/index.ts';
import type { Repositories, Repository } from '../repositories/index.ts';
import type { ReleaseFile, ReleaseRow } from './schema/release-schema.ts';
import type { ReleaseSettings } from './settings.ts';

/**
 * An event of a release that readers can see; drafts have no events. `withdrawn`: it has become a draft, by an edit or
 * because its tag was deleted.
 */
export interface ReleaseEvent {
  action: 'published' | 'updated' | 'withdrawn' | 'deleted';
  repository: Repository;
  release: ReleaseRow;
  files: readonly ReleaseFile[];
  /** UUID of the user; null for the command line, a task and the server itself. */
  actorId: string | null;
}

/** Listener of other modules for events, called inside the write that causes the event. */
export type ReleaseListener = (tx: Tx, event: ReleaseEvent) => Promise<void>;

/** Dependencies of the use-cases of this module. */
export interface ReleaseDeps {
  db: Database;
  accounts: Pick<Accounts, 'peopleById'>;
  repositories: Pick<Repositories, 'find' | 'factsOf' | 'locate' | 'tags'>;
  pulls: Pick<Pulls, 'mergedAmong'>;
  git: Pick<Git, 'refs' | 'queries' | 'objects'>;
  objects: ObjectStore;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: ReleaseSettings;
  listeners: ReleaseListener[];
}
