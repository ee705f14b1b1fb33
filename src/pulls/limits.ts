/** Limits of pull requests that no administrator changes. */
export const limits = {
  /** Open pull requests of one person without write access in one repository. */
  openPerContributor: 20,
  /** Commits of a round that are listed; more are only counted. */
  listedCommits: 250,
  /** Rounds of one pull request. */
  rounds: 500,
  /** Characters of the note of a round. */
  noteLength: 500,
  /** Conflicting files that are recorded. */
  conflicts: 200,
  /** Open pull requests of a branch whose merge state is computed after it has moved; the newest first. */
  mergeStates: 200,
  /** Threads of one pull request, and comments of one thread. */
  threads: 2_000,
  commentsPerThread: 200,
  /** Comments of a draft review. */
  commentsPerReview: 500,
  /** Lines of a thread, and bytes of them that are kept with it. */
  linesPerThread: 1_000,
  quotedBytes: 16 * 1024,
  /** The largest file whose lines are commented, in bytes. */
  commentedFileBytes: 16 * 1024 * 1024,
  /** Characters of the reason of a dismissal. */
  dismissalReasonLength: 1_000,
};
