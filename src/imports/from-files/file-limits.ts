/** Bounds of what is imported from files. */
export const fileLimits = {
  /** Of a folder, or of what an archive becomes. */
  totalBytes: 64 * 1024 ** 3,
  entries: 1_000_000,
  depth: 40,
  /** An archive becomes at most so many times as large as it is, */
  ratio: 100,
  /** or so large. */
  plainBytes: 1024 ** 3,
  /** Size of a JSON file in an archive, or of one of its lines. */
  jsonBytes: 64 * 1024 * 1024,
  /** Files of one kind in an archive. */
  jsonFiles: 100_000,
  /** Of an issue with its text, or the comments of one that stand in one line. */
  itemBytes: 16 * 1024 * 1024,
  /** Of a list that is read at once. */
  partBytes: 1024 * 1024,
  commentsPerIssue: 50_000,
  reviewsPerPull: 10_000,
} as const;
