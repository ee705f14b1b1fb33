import type { Tx } from '../db/index.ts';
import type { Issue } from '../issues/index.ts';
import type { Located } from '../repositories/index.ts';

/** A merge that the queue tests before the branch moves to it. */
export interface Candidate {
  located: Located;
  issue: Issue;
  baseBranch: string;
  /** Tip of the base branch, and the merge onto it. */
  baseOid: string;
  oid: string;
  /** The user who queued it and thereby trusts its code to run. */
  addedBy: string | null;
}

/** Identifies the runs of a candidate. */
export interface CandidatePlace {
  repositoryId: string;
  number: number;
  oid: string;
}

interface CandidateOutcome {
  /** Number of runs. */
  runs: number;
  state: 'running' | 'success' | 'failure';
  /** Number of a failed run. */
  failed: number | null;
}

/** Port for tests of candidates, implemented by CI. */
export interface CandidateTests<Prepared = unknown> {
  /** Finds the runs to start, before the write. Null if there are none. */
  prepare(candidate: Candidate): Promise<Prepared | null>;
  /** Starts them in the write that marks the candidate as tested. Returns the number of started runs. */
  record(tx: Tx, prepared: Prepared): Promise<number>;
  /** Called after that write. */
  recorded(prepared: Prepared): void;
  outcome(place: CandidatePlace): Promise<CandidateOutcome>;
  /** Ends runs whose result is no longer needed. */
  cancel(place: CandidatePlace, reason: string): Promise<void>;
}

/** Without CI every candidate passes. */
export const noTests: CandidateTests<never> = {
  prepare: async () => null,
  record: async () => 0,
  recorded() {},
  outcome: async () => ({ runs: 0, state: 'success', failed: null }),
  async cancel() {},
};
