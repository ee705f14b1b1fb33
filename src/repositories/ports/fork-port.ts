import type { Tx } from '../../db/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** A new fork as its transaction sees it. */
interface MadeFork {
  source: Repository;
  fork: Repository;
  /** UUID of the user; null for the command line. */
  byId: string | null;
}

/** Port through which other modules act on a new fork, inside the transaction that creates it. */
export type ForkListener = (tx: Tx, made: MadeFork) => Promise<void>;

/** A repository whose folder was copied; the fork does not have a row yet. */
interface CopiedRepository {
  sourceId: string;
  forkId: string;
  /** The folder of the fork. */
  path: string;
}

/** Another module's copy for a fork: its rows, written inside the transaction, and how to undo it. */
export interface PreparedFork {
  record: ForkListener;
  undo(): Promise<void>;
}

/** A commit fetched from one local repository into another; the paths are their folders. */
export interface FetchedCommit {
  from: string;
  into: string;
  oid: string;
}

/** Port through which another module copies data that committed files need outside git's object store. */
export interface CopyPort {
  /** Called for a fork before its transaction. */
  prepareFork(copied: CopiedRepository): Promise<PreparedFork>;
  /** Called for commits fetched between forks, before a ref or a pull request names them. Must not fail. */
  onFetch(fetched: FetchedCommit): Promise<void>;
}
