import type { CommitSignature } from '../../git/index.ts';

/** A commit, as far as its signature is concerned. */
export interface SignedObject {
  signature: CommitSignature;
  /** E-mail address of the committer. */
  address: string;
  /** Epoch milliseconds. */
  at: number;
}

/**
 * The port to what verifies signatures: a result for each object, in order.
 * @param client whom a fair queue counts
 */
export type VerifyCommits = (
  objects: readonly SignedObject[],
  client: string,
) => Promise<readonly ({ verified: boolean; reason: string } | null)[]>;
