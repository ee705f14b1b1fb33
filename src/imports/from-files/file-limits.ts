/** Limits of imports from files. */
export const fileLimits = {
  /** For a folder, or for the content of an archive. */
  totalBytes: 64 * 1024 ** 3,
  entries: 1_000_000,
  depth: 40,
  /** Limit of the expansion of an archive, as a multiple of its size, */
  ratio: 100,
  /** or in bytes. */
  plainBytes: 1024 ** 3,
  /** Size of a JSON file in an archive, or of one of its lines. */
  jsonBytes: 64 * 1024 * 1024,
  /** Number of files of one kind in an archive. */
  jsonFiles: 100_000,
  /** Size of an issue with its text, or of its comments if they are on one line. */
  itemBytes: 16 * 1024 * 1024,
  /** Size of a list that is read as a whole. */
  partBytes: 1024 * 1024,
  commentsPerIssue: 50_000,
  reviewsPerPull: 10_000,
} as const;
