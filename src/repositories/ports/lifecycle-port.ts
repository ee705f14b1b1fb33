import type { Tx } from '../../db/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** A repository that was created, forked or restored from the trash, or moved to the trash or discarded. */
export interface LifecycleEvent {
  action: 'created' | 'deleted';
  repository: Repository;
  owner: Owner;
  /** UUID of the user; null for the command line and for the server. */
  byId: string | null;
}

/** Port through which other modules act on new and deleted repositories, inside the transaction of the event. */
export type LifecycleListener = (tx: Tx, event: LifecycleEvent) => Promise<void>;
