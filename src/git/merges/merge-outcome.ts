import type { ConflictedFile } from './merge-trees.ts';

/** Result of a merge; only `merged` leaves objects behind. */
export type MergeOutcome =
  /** The new tip, and the number of new commits. */
  | { kind: 'merged'; oid: string; commits: number }
  /** `commit` is the one that a rebase could not apply. */
  | { kind: 'conflict'; files: ConflictedFile[]; commit: string | null }
  /** The branch already has all the commits. */
  | { kind: 'nothing' }
  /** A fast-forward was requested, but the branch has commits of its own. */
  | { kind: 'not_forward' }
  | { kind: 'unrelated' }
  /** The rebase exceeds the limit of commits. */
  | { kind: 'too_many_commits'; limit: number };
