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
  /** What else differs from `defaultLimits`: tests wait less. */
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

/** Of one kind of work: now, and since the start. */
export interface SlotLoad {
  /** How many got a place, were refused with a full queue, and after waiting in it. */
  admitted: number;
  refusedFull: number;
  refusedLate: number;
  /** Together, waiting and running. */
  waitedSeconds: number;
  workedSeconds: number;
  running: number;
  waiting: number;
}

/** Load of the room, for metrics and the answer to "why is it slow". */
export interface GitLoad {
  processes: number;
  reads: SlotLoad;
  writes: SlotLoad;
  short: SlotLoad;
}

/**
 * The only room that starts git. Every function takes the path of a repository that the
 * caller has already decided to open: nothing here knows people or permissions.
 */
export interface Git {
  /** As git prints it: `2.39.5`. */
  readonly version: string;

  repositoryPath(ownerId: string, repositoryId: string): string;
  createRepository(path: string, options: { defaultBranch: string }): Promise<void>;
  repositoryExists(path: string): Promise<boolean>;
  /** Bytes that its objects take on disk. */
  size(path: string): Promise<number>;
  moveRepository(from: string, to: string): Promise<void>;
  removeRepository(path: string): Promise<void>;
  /** Makes `branch` the one that a clone checks out; it need not exist yet. */
  setHead(path: string, branch: string): Promise<void>;

  advertiseRefs: AdvertiseRefs;
  uploadPack(request: UploadRequest): Promise<UploadOutcome>;
  uploadArchive(request: ArchiveRequest): Promise<UploadOutcome>;
  receivePack(request: PushRequest): Promise<PushOutcome>;

  /** Moves refs from what they are said to be; each verdict in order. The caller has journalled it. */
  moveRefs(path: string, moves: readonly RefMove[]): Promise<RefResult[]>;
  /** Keeps objects alive under hidden names, through any packing; answers the names that are kept now. */
  keepObjects(path: string, kept: readonly { name: string; oid: string }[]): Promise<string[]>;
  /**
   * After a crash, for refs that unsettled pushes were to make: removes those without a value, which were never
   * synced, and makes sure that the others stay. Answers what was removed.
   */
  repairNewRefs(path: string, refs: readonly string[]): Promise<string[]>;
  /** Lets go of what `keepObjects` kept. */
  letGo(path: string, names: readonly string[]): Promise<void>;
  /**
   * What another host has. This and the two below refuse `remote_failed`, and of ssh `ssh_client_missing`,
   * `host_key_changed`, `remote_key_refused`.
   */
  listRemote(remote: Remote, options?: ExchangeOptions): Promise<RemoteRefs>;
  /** The host key that a host shows now: `ssh-ed25519 AAAA…`. Refuses `remote_failed`, `ssh_client_missing`. */
  hostKeyOf(host: SshHost): Promise<string>;
  /** Brings a remote's objects here; no ref of ours moves. Refuses `remote_failed`, `remote_too_large`. */
  fetchRemote(path: string, remote: Remote, options?: ExchangeOptions): Promise<void>;
  /** What the last fetch brought, by the names of the other side. */
  fetchedRefs(path: string): Promise<Map<string, string>>;
  /** Brings the other side to where we are; answers what it refused. Refuses `remote_failed`. */
  pushRemote(path: string, remote: Remote, options: ExchangeOptions & { prune: boolean }): Promise<RefResult[]>;

  /** Repositories as single files. */
  readonly bundles: Bundles;

  /** Whether a ref that goes from one object to another loses nothing. */
  isForward(path: string, from: string, to: string): Promise<boolean>;

  head(path: string): Promise<Head>;
  /** The commit that a branch, tag, full ref, `HEAD` or commit id stands for. */
  resolve(path: string, revision: string, options?: RevisionOptions): Promise<string>;
  /** Every ref with the object it names. */
  refs(path: string): Promise<Map<string, string>>;
  /** A digest of HEAD, of every visible ref and of the settings, as they are now; null when only git can tell. */
  refState(path: string): Promise<string | null>;
  branches(path: string): Promise<NamedRef[]>;
  tags(path: string): Promise<NamedRef[]>;
  commit(path: string, oid: string): Promise<Commit>;
  log(path: string, oid: string, options: { limit: number; skip?: number }): Promise<Commit[]>;
  /** Commits of `oid` that none of `known` has, newest first; all are counted, `limit` are read. */
  newCommits(path: string, oid: string, known: readonly string[], options: { limit: number }): Promise<NewCommits>;
  /** Names of the files in which two commits differ; null when there are more than `limit`. */
  changedPaths(path: string, from: string, to: string, options: { limit: number }): Promise<string[] | null>;
  tree(
    path: string,
    oid: string,
    folder: string | Buffer,
    options?: { maxEntries?: number; withSizes?: boolean },
  ): Promise<Tree>;
  entryAt(path: string, oid: string, file: string | Buffer): Promise<TreeEntry>;
  blob(path: string, oid: string, options: { maxBytes: number }): Promise<Blob>;

  /** Whole answers for pages: history, differences, blame, archives. */
  readonly queries: GitQueries;

  /** Whether everything that the refs lead to is there; `full` reads every object. Sentences of git, none when all is well. */
  check(path: string, options?: { full?: boolean }): Promise<string[]>;
  /** Packs anew; what nothing leads to stays for thirty days. False while somebody pushes to it. */
  pack(path: string): Promise<boolean>;
  /** Packs those anew that need it, one at a time, while `mayGoOn`. Answers how many. */
  packAll(paths: Iterable<string>, mayGoOn: () => Promise<boolean>): Promise<number>;
  /** Looks after repositories that were pushed to: packs, bitmaps, refs, commit-graphs. Answers how many it changed. */
  maintain(mayGoOn?: () => Promise<boolean>): Promise<number>;
  /** Removes leftovers of earlier runs; safe at any time. */
  recover(path: string): Promise<RecoveryAction[]>;
  /**
   * Leftovers that nothing has touched since `before` (epoch milliseconds of the file system's clock), and
   * refs without a value. Beside a running server only what is old is surely nobody's.
   */
  leftovers(path: string, before: number, options: { remove: boolean }): Promise<RecoveryAction[]>;
  /**
   * The value that a ref without one should get back: the first of `known`, newest first, and of what
   * `packed-refs` says, whose object is there. Null when there is none.
   */
  lastValue(path: string, ref: string, known: readonly string[]): Promise<string | null>;
  /** Ends git processes of an earlier run. Before anything else at start, and only with the instance lock. */
  endStrayProcesses(): Promise<number[]>;
  load(): GitLoad;
  /** Whether the program can be started; an update of it may have taken it away. */
  isUsable(): Promise<boolean>;
  /** What clients asked; the edges note it. */
  readonly traffic: GitTraffic;
  /** From now on git is started by a small process of its own, where that is possible: for who serves pages meanwhile. */
  spawnApart(): void;
  /** Starts nothing more, lets what runs finish for `graceMs`, then ends it. */
  stop(graceMs?: number): Promise<void>;
}

function loadOf(slots: Semaphore): SlotLoad {
  const { heldSeconds, ...counts } = slots.statistics();
  return { running: slots.held(), waiting: slots.waiting(), workedSeconds: heldSeconds, ...counts };
}

/**
 * Finds git, checks its version, and writes the settings that every git process gets.
 * Refuses `git_missing`, `git_too_old`.
 */
export async function createGit({ config, logger, ...options }: GitOptions): Promise<Git> {
  const limits: GitLimits = { ...defaultLimits, ...limitsOf(config.git), ...options.limits };
  const searchPath = options.searchPath ?? process.env.PATH ?? '/usr/bin:/bin';
  const program = findProgram(config.git.program, searchPath);
  const folder = path.join(config.dataDir, 'run', 'git');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const settings = writeSettings(folder, limits);
  // Leftovers older than this are of an earlier run.
  const bornAt = timeOfFileSystem(folder);

  let spawner: Spawner | null = null;
  let isStopped = false;
  const door = createGitRunner(program, settings, logger, (launch) => spawner?.launch(launch) ?? null);
  const ask = async (): Promise<string> =>
    (await door.run({ argv: ['version'], timeLimitMs: 10_000 }, 4_096)).output.toString();
  const [version, pairs] = await Promise.all([
    askVersion(program, folder, ask, (answer) => readVersion(answer, program)),
    createSocketPairs(folder, logger),
  ]);
  const remotes = { door, ssh: { folder, searchPath } };
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
  const readers = createObjectReaders(door, limits);
  const refTables = createRefCache(readers, logger);
  const listings = createListings({ door, shortSlots: short, limits, tables: refTables, logger });
  const answers = await createFetchCache({
    door,
    slots: reads,
    tables: refTables,
    limits,
    folder: path.join(config.dataDir, 'cache', 'answers'),
    lowDiskFloorBytes: config.storage.lowDiskFloorBytes,
    versions: `${version.text} ${settings.digest}`,
  });
  const reach = createReachability({ door, readers, tables: refTables, slots: reads, shortSlots: short, limits });
  const upload = { door, pipes, slots: reads, shortSlots: short, limits, answers, reach, ...listings };
  const browsing = { door, readers, shortSlots: short, limits, reach };
  const upkeep = createMaintenance({
    door,
    async packAnew(target, signal) {
      await packRepository(door, target, signal);
      // Readers hold packs open that are gone now.
      await readers.close(target);
    },
    logger,
    lowDiskFloorBytes: config.storage.lowDiskFloorBytes,
    quietMs: limits.upkeepQuietMs,
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
      refTables,
      onHistoryRead: upkeep.noteIfMissing,
    },
  );
  const removeLeftovers = async (target: string) => {
    // File times move in steps of some milliseconds: let the killed process's last one pass.
    await sleep(20);
    return recoverRepository(target, timeOfFileSystem(folder));
  };
  const receiving = {
    door,
    readers,
    slots: writes,
    limits,
    logger,
    grantRefs: createRefQuota(limits.maxRefs),
    removeLeftovers,
    untidy: new Set<string>(),
  };

  const forget = async (repository: string) => {
    refTables.forget(repository);
    answers.forget(repository);
    await upkeep.leave(repository);
  };

  const namedRefs = async (repository: string, prefix: string): Promise<NamedRef[]> =>
    [...(await readRefs(repository))]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, oid]) => ({ name: name.slice(prefix.length), oid }));

  return {
    version: version.text,

    repositoryPath: (ownerId, repositoryId) => storage.repositoryPath(config.storage.root, ownerId, repositoryId),
    createRepository: (target, { defaultBranch }) => storage.createRepository(door, target, defaultBranch),
    repositoryExists: storage.repositoryExists,
    size: storage.sizeOfObjects,
    setHead: (target, branch) => refTables.changing(target, () => storage.setHead(door, target, branch)),
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
        refTables.changing(request.path, () => receivePack(receiving, request)).finally(() => moved(request.path));
      const outcome = await upkeep.aroundPush(request.path, push);
      if (outcome.kind === 'reported') {
        upkeep.note(request.path);
        refTables.noteCommits(request.path, branchTips(outcome));
      }
      return outcome;
    },

    async moveRefs(target, moves) {
      const move = () =>
        refTables.changing(target, () => moveRefs({ door, slots: writes }, target, moves)).finally(() => moved(target));
      const results = await upkeep.aroundPush(target, move);
      upkeep.note(target);
      refTables.noteCommits(target, branchTips({ updates: moves, results }));
      return results;
    },
    keepObjects: (target, kept) => keepObjects({ door }, target, kept),
    letGo: (target, names) => releaseObjects({ door }, target, names),
    repairNewRefs: (target, refs) => repairNewRefs(door, target, refs),
    listRemote: (remote, options) => listRemote(remotes, remote, options),
    hostKeyOf: (host) => hostKeyOf(remotes, host),
    async fetchRemote(target, remote, options) {
      await fetchRemote(remotes, target, remote, { ...options, maxBytes: limits.maxPushBytes });
      upkeep.note(target);
    },
    fetchedRefs: (target) => fetchedRefs(door, target),
    pushRemote: (target, remote, options) => pushRemote(remotes, target, remote, options),
    bundles: createBundles(door, { close: readers.close, note: upkeep.note }),
    isForward: (target, from, to) => isForward(browsing, target, from, to),

    head: (target) => browse.head(browsing, target),
    resolve: (target, revision, options) => browse.resolve(browsing, target, revision, options),
    refs: readRefs,
    refState: async (target) => (await refTables.of(target))?.state() ?? null,
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

    check: (target, depth) => checkRepository(door, target, depth),
    pack: upkeep.pack,
    packAll: upkeep.packAll,
    maintain: upkeep.run,
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
      if (door.running() > 0) throw internal('stray processes are ended before git is used');
      return endStrayProcesses(program, settings.file);
    },
    load: () => ({
      processes: door.running(),
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
    spawnApart() {
      if (spawner !== null || isStopped) return;
      spawner = createSpawner(pairs, logger);
      spawner.begin();
    },
    async stop(graceMs = 30_000) {
      isStopped = true;
      await Promise.all([readers.close(), door.close(graceMs)]);
      answers.close();
      spawner?.close();
      pairs.close();
    },
  };
}

/** Commits that a push brought to branches: git puts nothing else there. */
function branchTips({ updates, results }: { updates: readonly RefMove[]; results: readonly RefResult[] }): string[] {
  return updates
    .filter(({ ref, newId }, at) => results[at]?.ok === true && ref.startsWith('refs/heads/') && !/^0+$/.test(newId))
    .map(({ newId }) => newId);
}
