/** One part of a backup and its problems. */
export interface VerificationResult {
  part: 'files' | 'database' | 'repositories' | 'objects';
  /** How many files, rows or repositories were checked. */
  looked: number;
  problems: string[];
}
