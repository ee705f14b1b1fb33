import type { CommitSignature } from '../../git/index.ts';

/** Data of a commit that signature verification needs. */
export interface SignedObject {
  signature: CommitSignature;
  /** E-mail address of the committer. */
  address: string;
  /** Epoch milliseconds. */
  at: number;
}

/**
 * Port to the signature verifier: returns a result for each object, in order.
 * @param client attributed in the fair queue
 */
export type VerifyCommits = (
  objects: readonly SignedObject[],
  client: string,
) => Promise<readonly ({ verified: boolean; reason: string } | null)[]>;
