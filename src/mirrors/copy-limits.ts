/** How much a kept copy may have. */
export interface CopyAllowance {
  /** Of git and of LFS together, in bytes. */
  bytes: number;
  /** The limit that it reaches first, as the end of a sentence: `the limit of 5 GB for one copy`. */
  limit: string;
}

/** Answers how much a kept copy may have now. */
export type AllowanceOfCopy = (repositoryId: string) => Promise<CopyAllowance>;
