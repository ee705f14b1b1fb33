import type { Tx } from '../../db/index.ts';
import type { Issue } from '../../issues/index.ts';
import type { Located } from '../../repositories/index.ts';

/** A merge that the queue has tested before the branch moves to it. */
export interface Candidate {
  located: Located;
  issue: Issue;
  baseBranch: string;
  /** Tip of the base branch, and the merge onto it. */
  baseOid: string;
  oid: string;
  /** Who added it to the queue; the act of trust that lets its code run. */
  addedBy: string | null;
}

/** Where the runs of a candidate are found. */
export interface CandidatePlace {
  repositoryId: string;
  number: number;
  oid: string;
}

interface CandidateOutcome {
  /** How many runs there are. */
  runs: number;
  state: 'running' | 'success' | 'failure';
  /** Number of a run that failed. */
  failed: number | null;
}

/** What tests candidates: the port that the CI is plugged into. */
export interface CandidateTests<Prepared = unknown> {
  /** Finds what there is to run, before the write. Null for nothing. */
  prepare(candidate: Candidate): Promise<Prepared | null>;
  /** Starts it in the write that marks the candidate as tested. Returns how many runs it has started. */
  record(tx: Tx, prepared: Prepared): Promise<number>;
  /** After that write. */
  recorded(prepared: Prepared): void;
  outcome(place: CandidatePlace): Promise<CandidateOutcome>;
  /** Ends runs whose result is not needed any more. */
  cancel(place: CandidatePlace, reason: string): Promise<void>;
}

/** Where no CI is plugged in, a candidate passes. */
export const noTests: CandidateTests<never> = {
  prepare: async () => null,
  record: async () => 0,
  recorded() {},
  outcome: async () => ({ runs: 0, state: 'success', failed: null }),
  async cancel() {},
};
