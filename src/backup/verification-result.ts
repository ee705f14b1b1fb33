/** One part of a backup and its problems. */
export interface VerificationResult {
  part: 'files' | 'database' | 'repositories' | 'objects';
  /** Number of checked files, rows or repositories. */
  looked: number;
  problems: string[];
}
