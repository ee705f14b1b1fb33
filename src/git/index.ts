export { createGit } from './git.ts';
export type { Git, GitLoad, GitOptions, NamedRef, SlotLoad } from './git.ts';
export { installedGit } from './processes/installed-git.ts';
export { defaultLimits } from './limits.ts';
export type { GitLimits } from './limits.ts';
export type { AdvertiseRequest } from './fetches/advertise-refs.ts';
export type { ArchiveRequest, UploadOutcome, UploadRequest } from './fetches/upload-pack.ts';
export type {
  ProposedPush,
  PushObserver,
  PushOutcome,
  PushRequest,
  PushVerdict,
  RefusedRef,
} from './pushes/push.ts';
export { atomicFailure } from './pushes/judge-refs.ts';
export type { RefUpdate } from './pushes/push-head.ts';
export type { ForwardRule } from './pushes/only-forward.ts';
export { readParcelRef } from './remotes/parcel.ts';
export type { ParcelRequest } from './remotes/parcel.ts';
export type { ExchangeOptions, RemoteRefs } from './remotes/exchange.ts';
export type { HttpRemote, Remote } from './remotes/remote.ts';
export type { SshHost, SshRemote } from './remotes/ssh.ts';
export type { RefResult } from './pushes/push-report.ts';
export type { Blob, Head, Tree } from './objects/browse.ts';
export type { NewCommits } from './objects/new-commits.ts';
export type { Commit, EntryKind, Seal, Signature, TreeEntry } from './objects/parse-objects.ts';
export { needsPacking } from './upkeep/find-needs.ts';
export type { RecoveryAction } from './upkeep/recover.ts';
export { gerritFolders, isBranchName, isWellFormedRef } from './refs/ref-name.ts';
export { lfsNotStored } from './lfs.ts';
export { flushPacket, encodePacket } from './pkt-line.ts';
export type { Reading } from './reading/reading.ts';
export type { Location, RefKind } from './reading/locate.ts';
export type { History, HistoryEntry } from './reading/history.ts';
export type { ChangedFile, DiffList, DiffRange, FileStatus } from './reading/list-diff.ts';
export type { Hunk, Patch, Patches, PatchLimits, PatchLine } from './reading/read-patches.ts';
export type { Blame, BlameGroup } from './reading/blame.ts';
export type { Distance } from './reading/compare.ts';
export type { Grep, GrepLine, GrepRequest } from './reading/grep.ts';
export type { ListedFile } from './reading/list-files.ts';
export type { TagNote } from './reading/read-tag.ts';
export type { ArchiveFormat } from './reading/stream-git.ts';
export type { LastCommit, Table as LastCommitTable } from './last-commits/tables.ts';
export type { LastCommits } from './last-commits/last-commits.ts';
export type { GitOperation, GitTraffic, GitTrafficSeries } from './traffic.ts';
export { readRefs } from './refs/refs.ts';
export { repositoryPath } from './storage.ts';
