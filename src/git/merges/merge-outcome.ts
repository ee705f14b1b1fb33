import type { ConflictedFile } from './merge-trees.ts';

/** What a merge comes to; only `merged` leaves objects behind. */
export type MergeOutcome =
  /** The new tip, and how many commits are new. */
  | { kind: 'merged'; oid: string; commits: number }
  /** `commit` is the one that a rebase could not apply. */
  | { kind: 'conflict'; files: ConflictedFile[]; commit: string | null }
  /** The branch has all of it. */
  | { kind: 'nothing' }
  /** A fast-forward was wanted, and the branch has commits of its own. */
  | { kind: 'not_forward' }
  | { kind: 'unrelated' }
  /** A rebase of more commits than the limit. */
  | { kind: 'too_many_commits'; limit: number };
