/** Size limit of a kept copy. */
export interface CopyAllowance {
  /** Total of git and LFS, in bytes. */
  bytes: number;
  /** The limit that it reaches first, as the end of a sentence: `the limit of 5 GB for one copy`. */
  limit: string;
}

/** Returns the current size limit of a kept copy. */
export type AllowanceOfCopy = (repositoryId: string) => Promise<CopyAllowance>;
