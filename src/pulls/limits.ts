/** Limits of pull requests that no administrator changes. */
export const limits = {
  /** Open pull requests of one person without write access in one repository. */
  openPerContributor: 20,
  /** Commits of a round that are listed; more are only counted. */
  listedCommits: 250,
  /** Commits of a round that are sent as mails. */
  mailedCommits: 1_000,
  /** Rounds of one pull request. */
  rounds: 500,
  /** Characters of the note of a round. */
  noteLength: 500,
  /** Conflicting files that are recorded. */
  conflicts: 200,
  /** Open pull requests of a branch whose merge state is computed after it has moved; the newest first. */
  mergeStates: 200,
  /** Threads of one pull request, comments of all of them, and of one thread. */
  threads: 2_000,
  comments: 3_000,
  commentsPerThread: 200,
  /** Characters of a review in which mentions and references are looked for. */
  referencingText: 262_144,
  /** Comments of a draft review. */
  commentsPerReview: 500,
  /** Lines of a thread, and bytes of them that are kept with it. */
  linesPerThread: 1_000,
  quotedBytes: 16 * 1024,
  /** The largest file whose lines are commented, in bytes. */
  commentedFileBytes: 16 * 1024 * 1024,
  /** People who are asked for a review of one pull request; owners of code among them whom the server asks. */
  requests: 50,
  ownerRequests: 20,
  /** Teams that are asked for a review of one pull request. */
  teamRequests: 20,
  /** People who are offered as reviewers. */
  reviewCandidates: 1_000,
  /** A file of owners: bytes, rules that are read, owners of one rule, members of an organisation among them. */
  ownersFileBytes: 256 * 1024,
  ownerRules: 1_000,
  ownersPerRule: 20,
  membersPerOwner: 100,
  /** Lines of it that are shown because they cannot be read. */
  ownerFaults: 50,
  /** Steps of matching changed files with its patterns. */
  ownerSteps: 20_000_000,
  /** Files that one person marks as viewed in one pull request. */
  viewedFiles: 3_000,
  /** Suggestions that are applied at a time. */
  suggestionsAtOnce: 100,
  /** Pull requests in the merge queue of a branch, and those that a list of queues shows. */
  queued: 200,
  listedQueue: 1_000,
  /** Branches of one push whose queues are looked at; those of the others are within the minute. */
  wokenQueues: 20,
  /** Pull requests of a stack, which one push makes and one page lists; those that one of them needs. */
  stack: 50,
  neededPulls: 50,
  /** Rounds of those, the newest, on which one may be built. */
  stackedOn: 30,
  /** An answered patch, and the patch that it quotes, in bytes. */
  answeredPatchBytes: 1024 * 1024,
  quotedPatchBytes: 4 * 1024 * 1024,
  /** A patch that becomes a pull request, in bytes. */
  proposedPatchBytes: 4 * 1024 * 1024,
  /** Characters of the reason of a dismissal. */
  dismissalReasonLength: 1_000,
};
