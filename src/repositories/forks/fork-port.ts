import type { Tx } from '../../db/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** A fork that was made, as its own write sees it. */
export interface MadeFork {
  source: Repository;
  fork: Repository;
  /** UUID of the person; null for the command line. */
  byId: string | null;
}

/** The port through which other modules are called for a new fork, inside the write that makes it. */
export type ForkListener = (tx: Tx, made: MadeFork) => Promise<void>;
