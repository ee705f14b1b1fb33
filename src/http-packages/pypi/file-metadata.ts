/** What a file of a Python package has as its metadata. */
export interface PypiFileMetadata {
  requiresPython: string | null;
  /** `METADATA` of a wheel; null for everything else. */
  core: string | null;
}
