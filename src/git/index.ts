export { createGit } from './git.ts';
export type { GitOptions } from './git.ts';
export type { Git, GitLoad, SlotLoad } from './git-services.ts';
export { hasOtherObjects } from './caches/cache-folders.ts';
export type { CachedRef, GitCaches, RefEnd } from './caches/cache-folders.ts';
export { installedGit } from './processes/installed-git.ts';
export { defaultLimits } from './limits.ts';
export type { GitLimits } from './limits.ts';
export type { AdvertiseRequest } from './fetches/advertise-refs.ts';
export type { ArchiveRequest, UploadOutcome, UploadRequest } from './fetches/upload-pack.ts';
export type {
  IncomingCommits,
  ProposedPush,
  PushHooks,
  PushLanding,
  PushOutcome,
  PushRequest,
  PushVerdict,
  RefusedRef,
  RewrittenRef,
} from './pushes/push.ts';
export { atomicFailure } from './pushes/check-refs.ts';
export type { RefUpdate } from './pushes/push-header.ts';
export type { FastForwardRule } from './pushes/fast-forward-check.ts';
export type { LinearRule } from './pushes/linear-check.ts';
export type { SignedRule } from './pushes/signed-check.ts';
export { readBundleRef } from './remotes/bundle.ts';
export type { BundleFile, BundleRequest } from './remotes/bundle.ts';
export type { ExchangeOptions, RemoteRefs } from './remotes/fetch-and-push.ts';
export type { HttpRemote, Remote } from './remotes/remote.ts';
export type { SshHost, SshRemote } from './remotes/ssh.ts';
export { remoteMessages } from './remotes/remote.ts';
export type { RefResult } from './pushes/report-status.ts';
export type { Blob, Head, Tree } from './objects/browse.ts';
export type { NewCommits } from './objects/new-commits.ts';
export type { Commit, EntryKind, CommitSignature, Signature, TreeEntry } from './objects/parse-objects.ts';
export type { Interdiff, InterdiffRequest } from './merges/interdiff.ts';
export { withSignature } from './merges/commit-payload.ts';
export { maxPairedCommits } from './merges/range-diff.ts';
export type { CarriedRange, CommitRange, PairedCommit } from './merges/range-diff.ts';
export type { MergeRequest, MergeStyle } from './merges/compute-merge.ts';
export type { CommitFilesRequest, CommittedFile, CommittedFiles, FilesPreview } from './merges/commit-files.ts';
export type { MergeOutcome } from './merges/merge-outcome.ts';
export { baseCommitOf, splitMails } from './merges/split-mails.ts';
export type { AppliedPatch, PatchRequest } from './merges/apply-patch.ts';
export type { ConflictedFile, MergedTrees } from './merges/merge-trees.ts';
export type { ConflictLine } from './merges/conflict-hunks.ts';
export type { ConflictText, Conflicts } from './merges/read-conflicts.ts';
export type { GitMerges } from './merges/merges.ts';
export { needsPacking } from './maintenance/find-needs.ts';
export type { RecoveryAction } from './maintenance/recover.ts';
export {
  gerritFolders,
  isBranchName,
  isForReview,
  isWellFormedRef,
  refuseRef,
  refuseShortName,
  reviewFolder,
} from './refs/ref-name.ts';
export { flushPacket, encodePacket } from './pkt-line.ts';
export type { GitQueries } from './queries/queries.ts';
export type { RefPath, RefKind } from './queries/resolve-ref-path.ts';
export type { History, HistoryEntry } from './queries/history.ts';
export { unquotePath } from './queries/unquote-path.ts';
export type { ChangedFile, DiffList, DiffRange, FileStatus } from './queries/list-diff.ts';
export type { LineChange, LineChanges } from './queries/line-changes.ts';
export type { Hunk, Patch, Patches, PatchLimits, PatchLine } from './queries/read-patches.ts';
export { maxBlameBytes } from './queries/blame.ts';
export type { NamedRef, RefListing } from './refs/ref-listing.ts';
export type { Blame, BlameGroup } from './queries/blame.ts';
export type { Divergence } from './queries/compare-commits.ts';
export type { Grep, GrepLine, GrepRequest } from './queries/grep.ts';
export type { ListedEntry } from './queries/list-tree.ts';
export type { ListedFile } from './queries/list-files.ts';
export type { AnnotatedTag } from './queries/read-tag.ts';
export type { ArchiveFormat } from './queries/stream-git.ts';
export type { LastCommit, Table as LastCommitTable } from './last-commits/last-commit-cache.ts';
export type { LastCommits } from './last-commits/last-commits.ts';
export type { GitOperation, GitTraffic, GitTrafficSeries } from './traffic.ts';
export type { ForkRequest } from './forks/fork-repository.ts';
export type { DiskUsage } from './storage.ts';
export { readHiddenRefs, readRefs } from './refs/refs.ts';
export { repositoryPath } from './storage.ts';
export type { BlobRange, SmallBlob } from './objects/small-blobs.ts';
