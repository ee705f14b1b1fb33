/** Metadata of a file of a Python package. */
export interface PypiFileMetadata {
  requiresPython: string | null;
  /** `METADATA` of a wheel; null for all other files. */
  core: string | null;
}
