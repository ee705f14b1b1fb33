import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { IncomingCommits } from '../../git/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** The repository that is pushed to. */
export interface PushTarget {
  repository: Repository;
  canonical: { owner: string; name: string };
  /** The bare repository on disk. */
  path: string;
  /** The web address that a client over HTTP came to; absent over SSH. */
  origin?: string;
}

/** A push to `refs/for/<branch>`, which proposes commits for a branch. */
export interface PushForReview {
  /** Id of the push, once it is journalled. */
  id: string;
  viewer: Viewer;
  opened: PushTarget;
  /** `refs/for/…`, as the client named it. */
  ref: string;
  newId: string;
  options: readonly string[];
  arriving: IncomingCommits;
}

/** Which ref the push writes instead, or why it is refused: one line, shown beside the ref. */
export type ReviewVerdict =
  | {
      accept: true;
      /** `refs/pull/<number>/head`. */
      to: string;
      /** Its value now; zeros for none. */
      oldId: string;
      /** Size limit of the pack in bytes; null for that of the server. */
      maxPackBytes: number | null;
      /** Push options that the port does not know. */
      others: readonly string[];
      /** Writes what belongs to the journalled push, in the same write. */
      record(): Promise<void>;
      /** Lines for the person who pushes, once the write is durable. */
      remarks(): Promise<string[]>;
    }
  | { accept: false; reason: string };

/** The port through which the module of pull requests takes pushes to `refs/for/…`; `app/` registers it. */
export interface ReviewPort<Prepared = unknown> {
  /** Whether a person who may not write here may push for review. */
  mayPush(viewer: Viewer, found: Pick<PushTarget, 'repository'>): Promise<boolean>;
  /** Reads what is slow, before the write. */
  prepare(push: PushForReview): Promise<Prepared>;
  /** Decides by what the write sees. */
  decide(tx: Tx, push: PushForReview, prepared: Prepared): Promise<ReviewVerdict>;
  /**
   * Waits, within limits, until what a settled push has made can be seen: the client has its result then.
   * @returns a line for the person who has pushed where it takes longer
   */
  whenRecorded(repositoryId: string): Promise<string | null>;
  /** A line for the person who has pushed a new branch; null for none. */
  remarkOnBranch(viewer: Viewer, opened: PushTarget, branch: string): Promise<string | null>;
}
