/** Limits of user input. */
export const limits = {
  titleCharacters: 255,
  bodyBytes: 65_536,
  filesPerRelease: 100,
  /** Longest file name that file systems support. */
  fileNameBytes: 255,
  releasesPerRepository: 10_000,
  /** Newest commits from which notes are generated. */
  commitsInNotes: 500,
} as const;

/** Time limit of one upload in milliseconds: enough for 2 GiB at 5 Mbit/s. */
export const releaseUploadMs = 3_600_000;
