import type { Tx } from '../../db/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** A fork that was made, as its own write sees it. */
interface MadeFork {
  source: Repository;
  fork: Repository;
  /** UUID of the person; null for the command line. */
  byId: string | null;
}

/** The port through which other modules are called for a new fork, inside the write that makes it. */
export type ForkListener = (tx: Tx, made: MadeFork) => Promise<void>;

/** A repository whose folder was copied; the fork has no row yet. */
interface CopiedRepository {
  sourceId: string;
  forkId: string;
  /** The folder of the fork. */
  path: string;
}

/** What another module has copied for a fork: its rows, inside the write, and how to undo it. */
export interface PreparedFork {
  record: ForkListener;
  undo(): Promise<void>;
}

/** A commit of one repository of this server that was fetched into another; the paths are their folders. */
export interface FetchedCommit {
  from: string;
  into: string;
  oid: string;
}

/** The port through which another module copies what files of commits need beside git's objects. */
export interface CopyPort {
  /** Called for a fork before its write. */
  prepareFork(copied: CopiedRepository): Promise<PreparedFork>;
  /** Called for commits between forks, before a ref or a pull request has them. Must not fail. */
  onFetch(fetched: FetchedCommit): Promise<void>;
}
