/** Sizes of what people write. */
export const limits = {
  titleCharacters: 255,
  bodyBytes: 65_536,
  filesPerRelease: 100,
  /** File systems take no longer names. */
  fileNameBytes: 255,
  releasesPerRepository: 10_000,
  /** Commits that notes are made from; the newest count. */
  commitsInNotes: 500,
} as const;

/** Time limit of one upload, in milliseconds: as long as 2 GiB take at 5 Mbit/s. */
export const releaseUploadMs = 3_600_000;
