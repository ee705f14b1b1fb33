/** Fixed limits of pull requests. */
export const limits = {
  /** Open pull requests of one user without write access in one repository. */
  openPerContributor: 20,
  /** Listed commits of a round; further ones are only counted. */
  listedCommits: 250,
  /** Commits of a round sent by mail. */
  mailedCommits: 1_000,
  /** Rounds of one pull request. */
  rounds: 500,
  /** Characters of the note of a round. */
  noteLength: 500,
  /** Recorded files with conflicts. */
  conflicts: 200,
  /** Open pull requests of a moved branch whose merge states are computed, newest first. */
  mergeStates: 200,
  /** Threads of one pull request, comments in all of them, and comments in one thread. */
  threads: 2_000,
  comments: 3_000,
  commentsPerThread: 200,
  /** Characters of a review that are searched for mentions and references. */
  referencingText: 262_144,
  /** Comments of a draft review. */
  commentsPerReview: 500,
  /** Lines of a thread, and bytes of these lines stored with it. */
  linesPerThread: 1_000,
  quotedBytes: 16 * 1024,
  /** Size in bytes of the largest file whose lines can be commented. */
  commentedFileBytes: 16 * 1024 * 1024,
  /** Users asked to review one pull request; code owners among them whom the server asks. */
  requests: 50,
  ownerRequests: 20,
  /** Teams asked to review one pull request. */
  teamRequests: 20,
  /** Users offered as reviewers. */
  reviewCandidates: 1_000,
  /** A code owners file: bytes, rules, owners of one rule, members of an organisation among them. */
  ownersFileBytes: 256 * 1024,
  ownerRules: 1_000,
  ownersPerRule: 20,
  membersPerOwner: 100,
  /** Unreadable lines of a code owners file that are shown. */
  ownerFaults: 50,
  /** Steps of matching changed files with the patterns of a code owners file. */
  ownerSteps: 20_000_000,
  /** Files that one user marks as viewed in one pull request. */
  viewedFiles: 3_000,
  /** Suggestions applied at a time. */
  suggestionsAtOnce: 100,
  /** Pull requests in the merge queue of a branch, and in a list of queues. */
  queued: 200,
  listedQueue: 1_000,
  /** Branches of one push whose queues are advanced at once; the others follow within a minute. */
  wokenQueues: 20,
  /** Pull requests of a stack, created by one push and listed on one page; and dependencies of one of them. */
  stack: 50,
  neededPulls: 50,
  /** Newest rounds of each on which another pull request may be based. */
  stackedOn: 30,
  /** Bytes of an answered patch, and of the patch that it quotes. */
  answeredPatchBytes: 1024 * 1024,
  quotedPatchBytes: 4 * 1024 * 1024,
  /** Bytes of a patch that becomes a pull request. */
  proposedPatchBytes: 4 * 1024 * 1024,
  /** Characters of the reason for a dismissal. */
  dismissalReasonLength: 1_000,
};
