import { constants, mkdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/index.ts';
import { busy, createSemaphore, internal } from '../kernel/index.ts';
import type { Logger, Semaphore } from '../kernel/index.ts';
import { createListings } from './fetches/advertise-refs.ts';
import type { AdvertiseRefs } from './fetches/advertise-refs.ts';
import { createFetchCache } from './fetches/fetch-cache.ts';
import { askVersion } from './processes/ask-version.ts';
import * as browse from './objects/browse.ts';
import type { Blob, Head, RevisionOptions, Tree } from './objects/browse.ts';
import { changedPaths } from './objects/changed-paths.ts';
import { defaultLimits, limitsOf } from './limits.ts';
import type { GitLimits } from './limits.ts';
import { checkRepository, packRepository } from './maintenance/check-and-pack.ts';
import { repairNewRefs } from './pushes/new-refs.ts';
import { isForward, keepObjects, releaseObjects, moveRefs } from './pushes/move-refs.ts';
import type { RefMove } from './pushes/move-refs.ts';
import { newCommits } from './objects/new-commits.ts';
import type { NewCommits } from './objects/new-commits.ts';
import { createObjectReaders } from './objects/object-readers.ts';
import type { Commit, TreeEntry } from './objects/parse-objects.ts';
import { createBundles } from './remotes/bundle.ts';
import type { Bundles } from './remotes/bundle.ts';
import { createGitRunner } from './processes/git-runner.ts';
import { receivePack } from './pushes/receive-pack.ts';
import type { PushOutcome, PushRequest } from './pushes/push.ts';
import type { RefResult } from './pushes/push-report.ts';
import { createReachability } from './fetches/reachability.ts';
import { createGitQueries } from './queries/queries.ts';
import type { GitQueries } from './queries/queries.ts';
import { recoverRepository } from './maintenance/recover.ts';
import type { RecoveryAction } from './maintenance/recover.ts';
import { createRefQuota } from './pushes/ref-quota.ts';
import { createRefCache } from './ref-cache/ref-cache.ts';
import { readPackedRef, readRefs } from './refs/refs.ts';
import { fetchRemote, fetchedRefs, hostKeyOf, listRemote, pushRemote } from './remotes/exchange.ts';
import type { ExchangeOptions, RemoteRefs } from './remotes/exchange.ts';
import { removeStrayKeys } from './remotes/ssh.ts';
import type { SshHost } from './remotes/ssh.ts';
import type { Remote } from './remotes/remote.ts';
import { timeOfFileSystem, writeSettings } from './processes/settings.ts';
import { createReusedPipes } from './spawner/reused-pipe.ts';
import { createSocketPairs, removeStrayPairs } from './spawner/socket-pairs.ts';
import { createSpawner } from './spawner/spawner.ts';
import type { Spawner } from './spawner/spawner.ts';
import * as storage from './storage.ts';
import { endStrayProcesses } from './processes/stray-processes.ts';
import { createGitTraffic } from './traffic.ts';
import type { GitTraffic } from './traffic.ts';
import { createMaintenance } from './maintenance/maintenance.ts';
import { uploadArchive, uploadPack } from './fetches/upload-pack.ts';
import type { ArchiveRequest, UploadOutcome, UploadRequest } from './fetches/upload-pack.ts';
import { findProgram, lacksFixes, readVersion } from './processes/version.ts';

export interface GitOptions {
  config: Pick<Config, 'dataDir' | 'storage' | 'git'>;
  logger: Logger;
  /** Overrides of `defaultLimits`; tests use shorter waits. */
  limits?: Partial<GitLimits>;
  /** Folders where a program without a path is looked up, separated by colons. */
  searchPath?: string;
}

/** A branch or tag with the object it names. */
export interface NamedRef {
  /** Without `refs/heads/` or `refs/tags/`. */
  name: string;
  oid: string;
}

/** Load of one kind of work: now, and since the start. */
export interface SlotLoad {
  /** Requests admitted, refused because the queue was full, and refused after waiting in it. */
  admitted: number;
  refusedFull: number;
  refusedLate: number;
  /** Total seconds spent in the queue, and with a slot. */
  waitedSeconds: number;
  workedSeconds: number;
  running: number;
  waiting: number;
}

/** Load of the module, for metrics and for finding out why the server is slow. */
export interface GitLoad {
  processes: number;
  reads: SlotLoad;
  writes: SlotLoad;
  short: SlotLoad;
}

/**
 * The only module that starts git. Every function takes the path of a repository that the caller has already
 * authorised: nothing here knows people or permissions.
 */
export interface Git {
  /** As git prints it: `2.39.5`. */
  readonly version: string;

  repositoryPath(ownerId: string, repositoryId: string): string;
  createRepository(path: string, options: { defaultBranch: string }): Promise<void>;
  repositoryExists(path: string): Promise<boolean>;
  /** Size of its objects on disk, in bytes. */
  size(path: string): Promise<number>;
  moveRepository(from: string, to: string): Promise<void>;
  removeRepository(path: string): Promise<void>;
  /** Makes `branch` the default branch; it need not exist yet. */
  setHead(path: string, branch: string): Promise<void>;

  advertiseRefs: AdvertiseRefs;
  uploadPack(request: UploadRequest): Promise<UploadOutcome>;
  uploadArchive(request: ArchiveRequest): Promise<UploadOutcome>;
  receivePack(request: PushRequest): Promise<PushOutcome>;

  /** Moves refs by compare-and-set; returns a result per move, in order. The caller has journalled the moves. */
  moveRefs(path: string, moves: readonly RefMove[]): Promise<RefResult[]>;
  /**
   * Keeps objects reachable through hidden refs, so that packing never drops them; returns the names that are kept
   * now.
   */
  keepObjects(path: string, kept: readonly { name: string; oid: string }[]): Promise<string[]>;
  /**
   * Repairs, after a crash, refs that unsettled pushes were to create: removes those without a value, which were never
   * synced, and syncs the others. Returns the removed names.
   */
  repairNewRefs(path: string, refs: readonly string[]): Promise<string[]>;
  /** Removes the hidden refs that `keepObjects` created. */
  releaseObjects(path: string, names: readonly string[]): Promise<void>;
  /**
   * Lists the refs of another host. This and the two below refuse `remote_failed`, and over ssh `ssh_client_missing`,
   * `host_key_changed`, `remote_key_refused`.
   */
  listRemote(remote: Remote, options?: ExchangeOptions): Promise<RemoteRefs>;
  /** The host key that a host presents now: `ssh-ed25519 AAAA…`. Refuses `remote_failed`, `ssh_client_missing`. */
  hostKeyOf(host: SshHost): Promise<string>;
  /** Fetches a remote's objects without moving a ref of the repository. Refuses `remote_failed`, `remote_too_large`. */
  fetchRemote(path: string, remote: Remote, options?: ExchangeOptions): Promise<void>;
  /** What the last fetch brought, by the remote's ref names. */
  fetchedRefs(path: string): Promise<Map<string, string>>;
  /** Makes the remote's refs equal to the local ones; returns what the remote refused. Refuses `remote_failed`. */
  pushRemote(path: string, remote: Remote, options: ExchangeOptions & { prune: boolean }): Promise<RefResult[]>;

  /** Repositories as single files. */
  readonly bundles: Bundles;

  /** Whether moving a ref from one object to another is a fast-forward. */
  isForward(path: string, from: string, to: string): Promise<boolean>;

  head(path: string): Promise<Head>;
  /** The commit that a branch, tag, full ref, `HEAD` or commit id names. */
  resolve(path: string, revision: string, options?: RevisionOptions): Promise<string>;
  /**
   * The commits that these ids name, abbreviated to no fewer than seven digits or whole, by the id as given; without
   * those that no ref leads to. Refuses `git_busy`.
   */
  namedCommits(path: string, ids: readonly string[]): Promise<Map<string, string>>;
  /** Every ref with the object it names. */
  refs(path: string): Promise<Map<string, string>>;
  /** A digest of HEAD, of every visible ref and of the settings, as they are now; null when only git can tell. */
  refState(path: string): Promise<string | null>;
  branches(path: string): Promise<NamedRef[]>;
  tags(path: string): Promise<NamedRef[]>;
  commit(path: string, oid: string): Promise<Commit>;
  log(path: string, oid: string, options: { limit: number; skip?: number }): Promise<Commit[]>;
  /** Commits reachable from `oid` and from none of `known`, newest first; all are counted, `limit` are read. */
  newCommits(path: string, oid: string, known: readonly string[], options: { limit: number }): Promise<NewCommits>;
  /** Names of the files that differ between two commits; null when there are more than `limit`. */
  changedPaths(path: string, from: string, to: string, options: { limit: number }): Promise<string[] | null>;
  tree(
    path: string,
    oid: string,
    folder: string | Buffer,
    options?: { maxEntries?: number; withSizes?: boolean },
  ): Promise<Tree>;
  entryAt(path: string, oid: string, file: string | Buffer): Promise<TreeEntry>;
  blob(path: string, oid: string, options: { maxBytes: number }): Promise<Blob>;

  /** Queries for pages: history, differences, blame, archives. */
  readonly queries: GitQueries;

  /**
   * Whether every object reachable from the refs exists; `full` reads every object. Returns git's messages, none when
   * all is well.
   */
  check(path: string, options?: { full?: boolean }): Promise<string[]>;
  /** Repacks completely; unreachable objects stay for thirty days. False while a push to it runs. */
  pack(path: string): Promise<boolean>;
  /** Repacks the repositories that need it, one at a time, while `mayGoOn`. Returns how many. */
  packAll(paths: Iterable<string>, shouldContinue: () => Promise<boolean>): Promise<number>;
  /** Maintains repositories that were pushed to: packs, bitmaps, refs, commit-graphs. Returns how many it changed. */
  maintain(shouldContinue?: () => Promise<boolean>): Promise<number>;
  /** Removes leftovers of earlier runs; safe at any time. */
  recover(path: string): Promise<RecoveryAction[]>;
  /**
   * Finds leftovers that nothing has touched since `before` (epoch milliseconds of the file system's clock), and refs
   * without a value. Beside a running server only old files are surely unused.
   */
  leftovers(path: string, before: number, options: { remove: boolean }): Promise<RecoveryAction[]>;
  /**
   * The value to restore for a ref that has none: the first of `known`, newest first, and of `packed-refs`, whose
   * object exists. Null when there is none.
   */
  lastValue(path: string, ref: string, known: readonly string[]): Promise<string | null>;
  /** Kills git processes of an earlier run. Called first at start, and only with the instance lock. */
  endStrayProcesses(): Promise<number[]>;
  load(): GitLoad;
  /** Whether the program can be started; an update of git may have removed it. */
  isUsable(): Promise<boolean>;
  /** Counts of what clients asked; recorded by the transports. */
  readonly traffic: GitTraffic;
  /**
   * From now on git is started by a small process of its own, where the system allows it: a fork of the server would
   * delay pages.
   */
  useSpawner(): void;
  /** Starts nothing more, waits `graceMs` for running processes, then kills them. */
  stop(graceMs?: number): Promise<void>;
}

function loadOf(slots: Semaphore): SlotLoad {
  const { heldSeconds, ...counts } = slots.statistics();
  return { running: slots.held(), waiting: slots.waiting(), workedSeconds: heldSeconds, ...counts };
}

/**
 * Finds git, checks its version, and writes the settings of every git process. Refuses `git_missing`, `git_too_old`.
 */
export async function createGit({ config, logger, ...options }: GitOptions): Promise<Git> {
  const limits: GitLimits = { ...defaultLimits, ...limitsOf(config.git), ...options.limits };
  const searchPath = options.searchPath ?? process.env.PATH ?? '/usr/bin:/bin';
  const program = findProgram(config.git.program, searchPath);
  const folder = path.join(config.dataDir, 'run', 'git');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const settings = writeSettings(folder, limits);
  // Leftovers older than this belong to an earlier run.
  const bornAt = timeOfFileSystem(folder);

  let spawner: Spawner | null = null;
  let isStopped = false;
  const runner = createGitRunner(program, settings, logger, (launch) => spawner?.launch(launch) ?? null);
  const ask = async (): Promise<string> =>
    (await runner.run({ argv: ['version'], timeLimitMs: 10_000 }, 4_096)).output.toString();
  const [version, pairs] = await Promise.all([
    askVersion(program, folder, ask, (answer) => readVersion(answer, program)),
    createSocketPairs(folder, logger),
  ]);
  const remotes = { runner, ssh: { folder, searchPath } };
  const pipes = createReusedPipes(pairs);
  if (lacksFixes(version))
    logger.warn('git.outdated', { version: version.text, advice: 'update git: security fixes are missing' });

  const queue = {
    queue: limits.queue,
    waitMs: limits.queueWaitMs,
    refusal: busy(
      'git_busy',
      'The server is busy with other git requests. Try again in a moment.',
      limits.retryAfterSeconds,
    ),
  };
  const perRead = { repository: limits.readsPerRepository, client: limits.readsPerClient };
  const reads = createSemaphore({ ...queue, limit: limits.readSlots, limitPerKey: perRead });
  const writes = createSemaphore({
    ...queue,
    limit: limits.writeSlots,
    limitPerKey: { repository: limits.writesPerRepository },
  });
  const short = createSemaphore({
    ...queue,
    limit: limits.shortSlots,
    limitPerKey: { repository: limits.shortPerRepository },
  });
  const readers = createObjectReaders(runner, limits);
  const refCache = createRefCache(readers, logger);
  const listings = createListings({ runner, shortSlots: short, limits, refCache, logger });
  const fetchCache = await createFetchCache({
    runner,
    slots: reads,
    refCache,
    limits,
    folder: path.join(config.dataDir, 'cache', 'answers'),
    lowDiskFloorBytes: config.storage.lowDiskFloorBytes,
    versions: `${version.text} ${settings.digest}`,
  });
  const reachability = createReachability({
    runner,
    readers,
    refCache,
    slots: reads,
    shortSlots: short,
    limits,
  });
  const upload = { runner, pipes, slots: reads, shortSlots: short, limits, fetchCache, reachability, ...listings };
  const browsing = { runner, readers, shortSlots: short, limits, reachability };
  const maintenance = createMaintenance({
    runner,
    async packAnew(target, signal) {
      await packRepository(runner, target, signal);
      // Object readers hold packs open that are gone now.
      await readers.close(target);
    },
    logger,
    lowDiskFloorBytes: config.storage.lowDiskFloorBytes,
    quietMs: limits.maintenanceQuietMs,
    now: Date.now,
  });
  const {
    reading,
    moved,
    forget: forgetReading,
  } = createGitQueries(
    { ...browsing, slots: reads },
    {
      dataDir: config.dataDir,
      lowDiskFloorBytes: config.storage.lowDiskFloorBytes,
      logger,
      refCache,
      onHistoryRead: maintenance.recordHistoryRead,
    },
  );
  const removeLeftovers = async (target: string) => {
    // File times advance in steps of some milliseconds: wait until the killed process's last one has passed.
    await sleep(20);
    return recoverRepository(target, timeOfFileSystem(folder));
  };
  const receiving = {
    runner,
    readers,
    slots: writes,
    limits,
    logger,
    grantRefs: createRefQuota(limits.maxRefs),
    removeLeftovers,
    needsCleanup: new Set<string>(),
  };

  const forget = async (repository: string) => {
    refCache.forget(repository);
    fetchCache.forget(repository);
    await maintenance.leave(repository);
  };

  const namedRefs = async (repository: string, prefix: string): Promise<NamedRef[]> =>
    [...(await readRefs(repository))]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, oid]) => ({ name: name.slice(prefix.length), oid }));

  return {
    version: version.text,

    repositoryPath: (ownerId, repositoryId) => storage.repositoryPath(config.storage.root, ownerId, repositoryId),
    createRepository: (target, { defaultBranch }) => storage.createRepository(runner, target, defaultBranch),
    repositoryExists: storage.repositoryExists,
    size: storage.sizeOfObjects,
    setHead: (target, branch) => refCache.changing(target, () => storage.setHead(runner, target, branch)),
    async moveRepository(from, to) {
      await forget(from);
      await readers.close(from);
      await storage.moveRepository(from, to);
    },
    async removeRepository(target) {
      await forget(target);
      await readers.close(target);
      await storage.removeRepository(target);
      await forgetReading(target);
    },

    advertiseRefs: listings.advertiseRefs,
    uploadPack: (request) => uploadPack(upload, request),
    uploadArchive: (request) => uploadArchive(upload, request),
    async receivePack(request) {
      const push = () =>
        refCache.changing(request.path, () => receivePack(receiving, request)).finally(() => moved(request.path));
      const outcome = await maintenance.aroundPush(request.path, push);
      if (outcome.kind === 'reported') {
        maintenance.recordPush(request.path);
        refCache.recordCommits(request.path, branchTips(outcome));
      }
      return outcome;
    },

    async moveRefs(target, moves) {
      const move = () =>
        refCache
          .changing(target, () => moveRefs({ runner, slots: writes }, target, moves))
          .finally(() => moved(target));
      const results = await maintenance.aroundPush(target, move);
      maintenance.recordPush(target);
      refCache.recordCommits(target, branchTips({ updates: moves, results }));
      return results;
    },
    keepObjects: (target, kept) => keepObjects({ runner }, target, kept),
    releaseObjects: (target, names) => releaseObjects({ runner }, target, names),
    repairNewRefs: (target, refs) => repairNewRefs(runner, target, refs),
    listRemote: (remote, options) => listRemote(remotes, remote, options),
    hostKeyOf: (host) => hostKeyOf(remotes, host),
    async fetchRemote(target, remote, options) {
      await fetchRemote(remotes, target, remote, { ...options, maxBytes: limits.maxPushBytes });
      maintenance.recordPush(target);
    },
    fetchedRefs: (target) => fetchedRefs(runner, target),
    pushRemote: (target, remote, options) => pushRemote(remotes, target, remote, options),
    bundles: createBundles(runner, { close: readers.close, note: maintenance.recordPush }),
    isForward: (target, from, to) => isForward(browsing, target, from, to),

    head: (target) => browse.head(browsing, target),
    resolve: (target, revision, options) => browse.resolve(browsing, target, revision, options),
    namedCommits: (target, ids) => browse.namedCommits(browsing, target, ids),
    refs: readRefs,
    refState: async (target) => (await refCache.of(target))?.state() ?? null,
    branches: (target) => namedRefs(target, 'refs/heads/'),
    tags: (target) => namedRefs(target, 'refs/tags/'),
    commit: (target, oid) => browse.commit(browsing, target, oid),
    log: (target, oid, paging) => browse.log(browsing, target, oid, paging),
    newCommits: (target, oid, known, bounds) => newCommits(browsing, target, oid, known, bounds),
    changedPaths: (target, from, to, bounds) => changedPaths(browsing, target, from, to, bounds),
    tree: (target, oid, at, paging) => browse.tree(browsing, target, oid, at, paging),
    entryAt: (target, oid, file) => browse.entryAt(browsing, target, oid, file),
    blob: (target, oid, bounds) => browse.blob(browsing, target, oid, bounds),
    queries: reading,

    check: (target, depth) => checkRepository(runner, target, depth),
    pack: maintenance.pack,
    packAll: maintenance.packAll,
    maintain: maintenance.run,
    recover: (target) => recoverRepository(target, bornAt),
    leftovers: (target, before, { remove }) => recoverRepository(target, before, { onlyLook: !remove }),
    async lastValue(target, ref, known) {
      const packed = await readPackedRef(target, ref);
      for (const oid of packed === null ? known : [...known, packed]) {
        const [info] = await readers.use(target, (reader) => reader.infos([oid]));
        if (info) return oid;
      }
      return null;
    },
    async endStrayProcesses() {
      removeStrayPairs(folder);
      await removeStrayKeys(folder);
      if (runner.running() > 0) throw internal('stray processes are ended before git is used');
      return endStrayProcesses(program, settings.file);
    },
    load: () => ({
      processes: runner.running(),
      reads: loadOf(reads),
      writes: loadOf(writes),
      short: loadOf(short),
    }),
    isUsable: () =>
      access(program, constants.X_OK).then(
        () => true,
        () => false,
      ),
    traffic: createGitTraffic(),
    useSpawner() {
      if (spawner !== null || isStopped) return;
      spawner = createSpawner(pairs, logger);
      spawner.begin();
    },
    async stop(graceMs = 30_000) {
      isStopped = true;
      await Promise.all([readers.close(), runner.close(graceMs)]);
      fetchCache.close();
      spawner?.close();
      pairs.close();
    },
  };
}

/** Commits that a push brought to branches: git accepts only commits there. */
function branchTips({ updates, results }: { updates: readonly RefMove[]; results: readonly RefResult[] }): string[] {
  return updates
    .filter(({ ref, newId }, at) => results[at]?.ok === true && ref.startsWith('refs/heads/') && !/^0+$/.test(newId))
    .map(({ newId }) => newId);
}
