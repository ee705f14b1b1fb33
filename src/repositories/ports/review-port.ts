import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { IncomingCommits } from '../../git/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** The repository that receives the push. */
export interface PushTarget {
  repository: Repository;
  canonical: { owner: string; name: string };
  /** The bare repository on disk. */
  path: string;
  /** The web URL that an HTTP client used; absent over SSH. */
  origin?: string;
}

/** A push to `refs/for/<branch>`, which proposes commits for a branch. */
export interface PushForReview {
  /** Id of the push, once journalled. */
  id: string;
  viewer: Viewer;
  opened: PushTarget;
  /** `refs/for/…`, as the client named it. */
  ref: string;
  newId: string;
  options: readonly string[];
  arriving: IncomingCommits;
}

/** The ref that the push writes instead, or the reason for a refusal: one line, shown beside the ref. */
export type ReviewVerdict =
  | {
      accept: true;
      /** `refs/pull/<number>/head`. */
      to: string;
      /** Its current value; zeros if absent. */
      oldId: string;
      /** Size limit of the pack in bytes; null for the server's limit. */
      maxPackBytes: number | null;
      /** Push options that the port does not know. */
      others: readonly string[];
      /** Writes data of the journalled push, in the same transaction. */
      record(): Promise<void>;
      /** Lines for the user who pushes, once the transaction is durable. */
      remarks(): Promise<string[]>;
    }
  | { accept: false; reason: string };

/** Port through which the pull request module handles pushes to `refs/for/…`; registered by `app/`. */
export interface ReviewPort<Prepared = unknown> {
  /** Whether a user without write access may push for review here. */
  mayPush(viewer: Viewer, found: Pick<PushTarget, 'repository'>): Promise<boolean>;
  /** Reads slow data before the transaction. */
  prepare(push: PushForReview): Promise<Prepared>;
  /** Decides inside the transaction. */
  decide(tx: Tx, push: PushForReview, prepared: Prepared): Promise<ReviewVerdict>;
  /**
   * Waits, up to a limit, until the results of a settled push are visible: the client already has its report.
   * @returns a line for the user who pushed if it takes longer
   */
  whenRecorded(repositoryId: string): Promise<string | null>;
  /** A line for the user who pushed a new branch; null if there is none. */
  remarkOnBranch(viewer: Viewer, opened: PushTarget, branch: string): Promise<string | null>;
}
