export { createGit } from './git.ts';
export type { Git, SlotLoad } from './git-services.ts';
export { hasOtherObjects } from './caches/cache-folders.ts';
export type { CachedRef, RefEnd } from './caches/cache-folders.ts';
export { installedGit } from './processes/installed-git.ts';
export type { GitLimits } from './limits.ts';
export type {
  IncomingCommits,
  ProposedPush,
  PushHooks,
  PushOutcome,
  PushRequest,
  PushVerdict,
  RefusedRef,
} from './pushes/push.ts';
export { atomicFailure } from './pushes/check-refs.ts';
export type { FastForwardRule } from './pushes/fast-forward-check.ts';
export type { LinearRule } from './pushes/linear-check.ts';
export type { SignedRule } from './pushes/signed-check.ts';
export { readBundleRef } from './remotes/bundle.ts';
export type { BundleFile } from './remotes/bundle.ts';
export type { ExchangeOptions, RemoteRefs } from './remotes/fetch-and-push.ts';
export type { HttpRemote, Remote } from './remotes/remote.ts';
export type { SshHost, SshRemote } from './remotes/ssh.ts';
export { remoteMessages } from './remotes/remote.ts';
export type { RefResult } from './pushes/report-status.ts';
export { refFailures } from './pushes/ref-move.ts';
export type { Tree } from './objects/browse.ts';
export type { NewCommits } from './objects/new-commits.ts';
export type { Commit, CommitSignature, Signature, TreeEntry } from './objects/parse-objects.ts';
export type { Interdiff, InterdiffRequest } from './merges/interdiff.ts';
export { withSignature } from './merges/commit-payload.ts';
export { maxPairedCommits } from './merges/range-diff.ts';
export type { CommitRange, PairedCommit } from './merges/range-diff.ts';
export type { MergeStyle } from './merges/compute-merge.ts';
export type { CommitFilesRequest, CommittedFile, FilesPreview } from './merges/commit-files.ts';
export type { MergeOutcome } from './merges/merge-outcome.ts';
export { baseCommitOf, splitMails } from './merges/split-mails.ts';
export type { AppliedPatch, PatchRequest } from './merges/apply-patch.ts';
export type { ConflictedFile } from './merges/merge-trees.ts';
export type { ConflictLine } from './merges/conflict-hunks.ts';
export type { ConflictText, Conflicts } from './merges/read-conflicts.ts';
export { needsPacking } from './maintenance/find-needs.ts';
export {
  gerritFolders,
  isBranchName,
  isForReview,
  isWellFormedRef,
  isWholeId,
  refuseRef,
  refuseShortName,
  reviewFolder,
} from './refs/ref-name.ts';
export { flushPacket, encodePacket } from './pkt-line.ts';
export type { RefPath } from './queries/resolve-ref-path.ts';
export type { HistoryEntry } from './queries/history.ts';
export { unquotePath } from './queries/unquote-path.ts';
export type { ChangedFile, DiffRange } from './queries/list-diff.ts';
export type { LineChange } from './queries/line-changes.ts';
export type { Hunk, Patch, PatchLimits, PatchLine } from './queries/read-patches.ts';
export { maxBlameBytes } from './queries/blame.ts';
export type { NamedRef, RefListing } from './refs/ref-listing.ts';
export type { Blame, BlameGroup } from './queries/blame.ts';
export type { GrepLine } from './queries/grep.ts';
export type { ListedFile } from './queries/list-files.ts';
export type { ArchiveFormat } from './queries/stream-downloads.ts';
export type { LastCommit } from './last-commits/last-commit-cache.ts';
export type { LastCommits } from './last-commits/last-commits.ts';
export type { GitOperation, GitTraffic, GitTrafficSeries } from './traffic.ts';
export type { ForkRequest } from './forks/fork-repository.ts';
export { readHiddenRefs, readRefs } from './refs/refs.ts';
export { repositoryPath } from './storage.ts';
export type { BlobRange } from './objects/small-blobs.ts';
