/** What a source numbers: issues and pull requests, apart from each other. */
export type NumberedKind = 'issue' | 'pull';

/**
 * The numbers that issues and pull requests of a source get here, where it numbers the two apart. A number that was
 * given stays: a later run updates what an earlier one wrote.
 */
export interface SourceNumbers {
  /** Numbers here by those there. */
  of(kind: NumberedKind, there: readonly number[]): Promise<Map<number, number>>;
  /** Called at the end of the first list of issues: pull requests count on behind the highest. */
  settle(): Promise<void>;
  /** The way back. */
  from(here: number): Promise<{ kind: NumberedKind; iid: number }>;
}

/** For looking alone, where nothing is written. */
export const numbersAsTheyAre: SourceNumbers = {
  of: async (_kind, there) => new Map(there.map((iid) => [iid, iid])),
  settle: async () => {},
  from: async (here) => ({ kind: 'issue', iid: here }),
};
