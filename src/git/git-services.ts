import type { BlobRange, SmallBlob } from './objects/small-blobs.ts';
import type { ForkRequest } from './forks/fork-repository.ts';
import type { DiskUsage } from './storage.ts';
import type { AdvertiseRefs } from './fetches/advertise-refs.ts';
import type { Blob, Head, RevisionOptions, Tree } from './objects/browse.ts';
import type { RefMove } from './pushes/ref-move.ts';
import type { CommitDay, CommitDaysRange } from './queries/commit-activity.ts';
import type { NewObjects } from './queries/measure-new-objects.ts';
import type { NewCommits } from './objects/new-commits.ts';
import type { Commit, TreeEntry } from './objects/parse-objects.ts';
import type { Bundles } from './remotes/bundle.ts';
import type { PushOutcome, PushRequest } from './pushes/push.ts';
import type { GitCaches } from './caches/cache-folders.ts';
import type { GitMerges } from './merges/merges.ts';
import type { RefResult } from './pushes/report-status.ts';
import type { GitQueries } from './queries/queries.ts';
import type { RecoveryAction } from './maintenance/recover.ts';
import type { ExchangeOptions, RemoteRefs } from './remotes/fetch-and-push.ts';
import type { LfsEndpoint } from './remotes/lfs-authenticate.ts';
import type { SshHost, SshRemote } from './remotes/ssh.ts';
import type { Remote } from './remotes/remote.ts';
import type { GitTraffic } from './traffic.ts';
import type { ArchiveRequest, UploadOutcome, UploadRequest } from './fetches/upload-pack.ts';

/** Load of one kind of work: current values, and totals since the start. */
export interface SlotLoad {
  /** Requests admitted, refused because the queue was full, and refused after waiting in it. */
  admitted: number;
  refusedFull: number;
  refusedLate: number;
  /** Total seconds spent in the queue, and holding a slot. */
  waitedSeconds: number;
  workedSeconds: number;
  running: number;
  waiting: number;
}

/** Load of the module, for metrics and performance diagnosis. */
interface GitLoad {
  processes: number;
  reads: SlotLoad;
  writes: SlotLoad;
  short: SlotLoad;
}

/** Folders of repositories. */
interface GitStorage {
  pathOf(ownerId: string, repositoryId: string): string;
  create(path: string, options: { defaultBranch: string }): Promise<void>;
  exists(path: string): Promise<boolean>;
  /**
   * Copies a repository with its branches and tags, sharing object files by hard links. The copy appears complete or
   * not at all, and neither repository sees later changes of the other. Throws `repository_exists`, `repository_empty`,
   * `branch_not_found`, `repository_moves`, `repository_busy`, `git_busy`.
   */
  fork(source: string, target: string, request: ForkRequest): Promise<void>;
  /** The folder for reading files directly, without this interface: complete and current. */
  folderOf(path: string): Promise<string>;
  /** Size of its objects on disk, in bytes. */
  size(path: string): Promise<number>;
  /** Size on disk, including the part that is shared with other repositories. */
  measure(path: string): Promise<DiskUsage>;
  move(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /**
   * Moves the source of truth of a repository: to its folder, or to rows and the object store. Reads and pushes
   * continue meanwhile. Throws `repository_store_not_set`, `repository_busy`, `object_store_unavailable`,
   * `missing_objects`; then nothing has moved.
   * @returns the bytes of its packs; null if it is there already
   */
  moveTo(path: string, place: 'local' | 'store'): Promise<number | null>;
}

/** Branches, tags and HEAD. */
interface GitRefs {
  /** Makes `branch` the default branch; it need not exist yet. */
  setHead(path: string, branch: string): Promise<void>;
  /** Moves refs by compare-and-set; returns a result per move, in order. The caller has journalled the moves. */
  move(path: string, moves: readonly RefMove[]): Promise<RefResult[]>;
  /** Sets `refs/pull/<number>/head` or `…/merge`; null removes it. The caller has recorded why. */
  setPull(path: string, number: number, name: 'head' | 'merge', oid: string | null): Promise<void>;
  /**
   * Moves `refs/pull/<number>/head` by compare-and-set, with null for no ref; false if it no longer has the value
   * `from`.
   */
  movePullHead(path: string, number: number, move: { from: string | null; to: string }): Promise<boolean>;
  /**
   * Repairs, after a crash, refs that unsettled pushes were about to create: removes those without a value, which were
   * never synced, and syncs the others. Returns the removed names.
   */
  repairNew(path: string, refs: readonly string[]): Promise<string[]>;
  /** Whether moving a ref from one object to another is a fast-forward. */
  isForward(path: string, from: string, to: string): Promise<boolean>;
  /** The commits that a ref gains by a move, in no order; null if there are more than a thousand. */
  gainedCommits(path: string, move: { oldId: string; newId: string }): Promise<Commit[] | null>;
  /** Whether a ref move adds merge commits; a new ref is compared with all branches and tags. */
  hasNewMerges(path: string, move: { oldId: string; newId: string }): Promise<boolean>;
  head(path: string): Promise<Head>;
  /** The commit that a branch, tag, full ref, `HEAD` or commit id names. */
  resolve(path: string, revision: string, options?: RevisionOptions): Promise<string>;
  /** Every ref with the object it names. */
  list(path: string): Promise<Map<string, string>>;
  /** The object that one ref currently names; null for none. @param ref full and well-formed, `refs/heads/main` */
  tip(path: string, ref: string): Promise<string | null>;
  /** A digest of the current HEAD, visible refs and settings; null if only git can list them. */
  state(path: string): Promise<string | null>;
  /**
   * The value to restore for a ref that has none: the first one whose object exists, among `known`, newest first, and
   * `packed-refs`. Null if there is none.
   */
  lastValue(path: string, ref: string, known: readonly string[]): Promise<string | null>;
}

/** The git protocol, for the transports. */
interface GitTransfers {
  advertiseRefs: AdvertiseRefs;
  uploadPack(request: UploadRequest): Promise<UploadOutcome>;
  uploadArchive(request: ArchiveRequest): Promise<UploadOutcome>;
  receivePack(request: PushRequest): Promise<PushOutcome>;
}

/** Commits, trees and blobs. */
interface GitObjects {
  /** Keeps objects reachable by hidden refs, so that packing never drops them; returns the names that exist now. */
  keep(path: string, tips: readonly { name: string; oid: string }[]): Promise<string[]>;
  /** Removes the hidden refs that `keep` created. */
  release(path: string, names: readonly string[]): Promise<void>;
  commit(path: string, oid: string): Promise<Commit>;
  log(path: string, oid: string, options: { limit: number; skip?: number }): Promise<Commit[]>;
  /**
   * The commits that these ids (full, or abbreviated to at least seven digits) name, keyed by the id as given; omits
   * those unreachable from every ref. Throws `git_busy`.
   */
  namedCommits(path: string, ids: readonly string[]): Promise<Map<string, string>>;
  /** Commits reachable from `oid` and from none of `known`, newest first; counts all, reads at most `limit`. */
  newCommits(path: string, oid: string, known: readonly string[], options: { limit: number }): Promise<NewCommits>;
  /** Bytes on disk of the objects that a commit needs and the known ones lack. Throws `git_busy`. */
  bytesOfNew(path: string, objects: NewObjects): Promise<number>;
  /** Commits by author and day; null if git could not read all in time. Throws `git_busy`. */
  commitDays(path: string, range: CommitDaysRange): Promise<CommitDay[] | null>;
  /** Names of the files that differ between two commits; null if there are more than `limit`. */
  changedPaths(path: string, from: string, to: string, options: { limit: number }): Promise<string[] | null>;
  tree(
    path: string,
    oid: string,
    folder: string | Buffer,
    options?: { maxEntries?: number; withSizes?: boolean },
  ): Promise<Tree>;
  entryAt(path: string, oid: string, file: string | Buffer): Promise<TreeEntry>;
  blob(path: string, oid: string, options: { maxBytes: number }): Promise<Blob>;
  /** The contents of all blobs of one size, each once. Throws if git has not read everything successfully. */
  smallBlobs(
    path: string,
    range: BlobRange,
    options: { minBytes: number; maxBytes: number; signal?: AbortSignal | undefined },
  ): AsyncIterable<SmallBlob>;
}

/** Remote repositories, and repositories as single files. */
interface GitRemotes {
  /**
   * Lists the refs of a remote. This and the next two methods throw `remote_failed`, and over ssh `ssh_client_missing`,
   * `host_key_changed`, `remote_key_refused`.
   */
  list(remote: Remote, options?: ExchangeOptions): Promise<RemoteRefs>;
  /** The host key that a host currently presents: `ssh-ed25519 AAAA…`. Throws `remote_failed`, `ssh_client_missing`. */
  hostKeyOf(host: SshHost): Promise<string>;
  /**
   * URL of the Git LFS server of a repository reached by ssh, with credentials for one operation; null if it has none.
   * Throws `remote_failed`, `ssh_client_missing`, `host_key_changed`, `remote_key_refused`.
   */
  lfsOf(remote: SshRemote, operation: 'upload' | 'download', options?: ExchangeOptions): Promise<LfsEndpoint | null>;
  /** Fetches a remote's objects without moving a ref of the repository. Throws `remote_failed`, `remote_too_large`. */
  fetch(path: string, remote: Remote, options?: ExchangeOptions): Promise<void>;
  /**
   * Fetches a branch of another repository on this machine without moving a ref of this one; returns its commit, which
   * is kept until `objects.release` of `sync/<refName>`. Concurrent fetches need different names.
   */
  fetchLocal(path: string, source: string, branch: string, refName: string): Promise<string>;
  /** The refs that the last fetch brought, by the remote's names. */
  fetchedRefs(path: string): Promise<Map<string, string>>;
  /**
   * Makes the remote's refs equal to the local ones; returns the refs that the remote refused. Throws `remote_failed`.
   */
  push(path: string, remote: Remote, options: ExchangeOptions & { prune: boolean }): Promise<RefResult[]>;
  /** Repositories as single files. */
  readonly bundles: Bundles;
}

/** Checks, packing, and cleanup after crashes. */
interface GitMaintenance {
  /**
   * Whether packs match their checksums, loose objects their names, and every object reachable from the refs exists;
   * `full` also lets git read every object. Returns one sentence per problem.
   */
  check(path: string, options?: { full?: boolean }): Promise<string[]>;
  /** Compares packs with their checksums and loose objects with their names: a sentence for each damaged file. */
  checkRepositoryFiles(path: string): Promise<string[]>;
  /** Derived files of git that do not match their checksum, relative to the repository. */
  findDamagedIndexes(path: string): Promise<string[]>;
  /**
   * Repacks completely, or geometrically if packs are shared with forks; unreachable objects stay for thirty days.
   * Returns false while a push to it runs.
   */
  pack(path: string): Promise<boolean>;
  /**
   * Repacks the repositories that need it, one at a time, while `shouldContinue` returns true. Returns their number.
   */
  packAll(paths: Iterable<string>, shouldContinue: () => Promise<boolean>): Promise<number>;
  /**
   * Maintains repositories that were pushed to: packs, bitmaps, refs, commit-graphs. Returns the number of changed
   * ones.
   */
  run(shouldContinue?: () => Promise<boolean>): Promise<number>;
  /** Removes leftovers of earlier runs; safe at any time. */
  recover(path: string): Promise<RecoveryAction[]>;
  /**
   * Finds leftovers not touched since `before` (epoch milliseconds of the file system's clock), and refs without a
   * value. Beside a running server only old files are surely unused.
   */
  leftovers(path: string, before: number, options: { remove: boolean }): Promise<RecoveryAction[]>;
  /** Kills git processes of an earlier run. Called first at start, and only with the instance lock. */
  endStrayProcesses(): Promise<number[]>;
}

/**
 * The only module that starts git. Every function takes the path of a repository that the caller has already
 * authorised: nothing here knows users or permissions.
 */
export interface Git {
  /** As printed by git: `2.39.5`. */
  readonly version: string;
  readonly storage: GitStorage;
  readonly refs: GitRefs;
  readonly transfers: GitTransfers;
  readonly objects: GitObjects;
  readonly remotes: GitRemotes;
  readonly maintenance: GitMaintenance;
  readonly merges: GitMerges;
  /** Cache folders of repositories whose source of truth is elsewhere. */
  readonly caches: GitCaches;
  /** Queries for pages: history, differences, blame, archives. */
  readonly queries: GitQueries;
  load(): GitLoad;
  /** Whether the program can still be started; an update of git may have removed it. */
  isUsable(): Promise<boolean>;
  /** Counts of client requests; recorded by the transports. */
  readonly traffic: GitTraffic;
  /**
   * Starts the spawner, a small process that starts git from now on, if the system supports it: forking the server
   * would delay pages.
   */
  useSpawner(): void;
  /** Stops starting processes, waits `graceMs` for running ones, then kills them. */
  stop(graceMs?: number): Promise<void>;
}
