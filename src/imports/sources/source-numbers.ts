/** The items that a source numbers: issues and pull requests, separately. */
export type NumberedKind = 'issue' | 'pull';

/**
 * The numbers here of issues and pull requests of a source that numbers the two separately. An assigned number stays: a
 * later run updates the rows of an earlier one.
 */
export interface SourceNumbers {
  /** Numbers here by the source's numbers. */
  of(kind: NumberedKind, there: readonly number[]): Promise<Map<number, number>>;
  /** Called at the end of the first list of issues: pull requests continue after the highest number. */
  settle(): Promise<void>;
  /** The reverse mapping. */
  from(here: number): Promise<{ kind: NumberedKind; iid: number }>;
}

/** For reading only, without assigning numbers. */
export const numbersAsTheyAre: SourceNumbers = {
  of: async (_kind, there) => new Map(there.map((iid) => [iid, iid])),
  settle: async () => {},
  from: async (here) => ({ kind: 'issue', iid: here }),
};
