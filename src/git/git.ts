import { smallBlobs } from './objects/small-blobs.ts';
import { constants, mkdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/index.ts';
import { busy, conflict, createSemaphore, internal, noRef } from '../kernel/index.ts';
import type { Logger, Semaphore } from '../kernel/index.ts';
import { createListings } from './fetches/advertise-refs.ts';
import { createFetchCache } from './fetches/fetch-cache.ts';
import { cachedVersion } from './processes/cached-version.ts';
import * as browse from './objects/browse.ts';
import { fetchLocal } from './forks/fetch-local.ts';
import { forkRepository } from './forks/fork-repository.ts';
import { commitDays } from './queries/commit-activity.ts';
import { changedPaths } from './objects/changed-paths.ts';
import { defaultLimits, limitsOf } from './limits.ts';
import type { GitLimits } from './limits.ts';
import { checkObjectFiles, findDamagedIndexes } from './maintenance/check-object-files.ts';
import { checkRepository, packRepository } from './maintenance/check-and-pack.ts';
import { repairNewRefs } from './pushes/sync-new-refs.ts';
import { hasNewMerges } from './pushes/linear-check.ts';
import { gainedByMove } from './pushes/signed-check.ts';
import { isForward, keepObjects, movePullHead, moveRefs, releaseObjects, setPullRef } from './pushes/move-refs.ts';
import type { RefMove } from './pushes/ref-move.ts';
import { measureNewObjects } from './queries/measure-new-objects.ts';
import { newCommits } from './objects/new-commits.ts';
import { createObjectReaders } from './objects/object-readers.ts';
import { createBundles } from './remotes/bundle.ts';
import { createGitRunner } from './processes/git-runner.ts';
import { receivePack } from './pushes/receive-pack.ts';
import type { RefResult } from './pushes/report-status.ts';
import { createReachability } from './fetches/reachability.ts';
import { createGitQueries } from './queries/queries.ts';
import { recoverRepository } from './maintenance/recover.ts';
import { createRefQuota } from './pushes/ref-quota.ts';
import { createRefCache } from './ref-cache/ref-cache.ts';
import { readPackedRef, readRef, readRefs } from './refs/refs.ts';
import { fetchRemote, fetchedRefs, hostKeyOf, listRemote, pushRemote } from './remotes/fetch-and-push.ts';
import { requestLfsEndpoint } from './remotes/lfs-authenticate.ts';
import { removeStrayKeys } from './remotes/ssh.ts';
import { timeOfFileSystem, writeSettings } from './processes/settings.ts';
import { createReusedPipes } from './spawner/buffer-reusing-pipe.ts';
import { createSocketPairs, removeStrayPairs } from './spawner/socket-pairs.ts';
import { createSpawner } from './spawner/spawner.ts';
import type { Spawner } from './spawner/spawner.ts';
import * as storage from './storage.ts';
import { endStrayProcesses } from './processes/stray-processes.ts';
import { createGitTraffic } from './traffic.ts';
import { createCaches } from './caches/cache-folders.ts';
import { createMerges } from './merges/merges.ts';
import { createMaintenance } from './maintenance/maintenance.ts';
import { uploadArchive, uploadPack } from './fetches/upload-pack.ts';
import { findProgram, lacksFixes, readVersion } from './processes/version.ts';
import type { Git, SlotLoad } from './git-services.ts';

interface GitOptions {
  config: Pick<Config, 'dataDir' | 'storage'> & { git: Omit<Config['git'], 'storage' | 'cacheBytes'> };
  logger: Logger;
  /** Overrides of `defaultLimits`; tests use shorter waits. */
  limits?: Partial<GitLimits>;
  /** Whether the truth of a repository is elsewhere, so that nothing in its folder is packed or removed. */
  isCache?: (repository: string) => boolean;
  /** Folders where a program without a path is looked up, separated by colons. */
  searchPath?: string;
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
  const runVersion = async (): Promise<string> =>
    (await runner.run({ argv: ['version'], timeLimitMs: 10_000 }, 4_096)).output.toString();
  const [version, pairs] = await Promise.all([
    cachedVersion(program, folder, runVersion, (answer) => readVersion(answer, program)),
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
  // As many as the reference load has cores: a merge computes all the time.
  const merging = createSemaphore({ ...queue, limit: 2 });
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
    isCache: options.isCache ?? (() => false),
    quietMs: limits.maintenanceQuietMs,
    now: Date.now,
  });
  const {
    reading,
    moved,
    forget: clearReadCaches,
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

  return {
    version: version.text,

    storage: {
      pathOf: (ownerId, repositoryId) => storage.repositoryPath(config.storage.root, ownerId, repositoryId),
      create: (target, { defaultBranch }) => storage.createRepository(runner, target, defaultBranch),
      exists: storage.repositoryExists,
      folderOf: async (target) => target,
      async fork(source, target, request) {
        const leave = await reads.acquire({ repository: source });
        try {
          // As for a push: maintenance of the source would remove packs while they are linked.
          await maintenance.aroundPush(source, () => forkRepository(runner, source, target, request));
        } finally {
          leave();
        }
        maintenance.recordPush(target);
      },
      size: async (target) => (await storage.measureObjects(target)).bytes,
      measure: storage.measureObjects,
      async move(from, to) {
        await forget(from);
        await readers.close(from);
        await storage.moveRepository(from, to);
      },
      async remove(target) {
        await forget(target);
        await readers.close(target);
        await storage.removeRepository(target);
        await clearReadCaches(target);
      },
      async moveTo(_target, place) {
        if (place === 'local') return null;
        throw conflict(
          'repository_store_not_set',
          'Repositories are kept in folders: set git.storage = "store" and start the server anew.',
        );
      },
    },

    refs: {
      setHead: (target, branch) => refCache.changing(target, () => storage.setHead(runner, target, branch)),
      async move(target, moves) {
        const move = () =>
          refCache
            .changing(target, () => moveRefs({ runner, readers, slots: writes }, target, moves))
            .finally(() => moved(target));
        const results = await maintenance.aroundPush(target, move);
        maintenance.recordPush(target);
        refCache.recordCommits(target, branchTips({ updates: moves, results }));
        return results;
      },
      setPull: (target, number, name, oid) =>
        refCache.changing(target, () => setPullRef({ runner }, target, number, name, oid)).finally(() => moved(target)),
      movePullHead: (target, number, move) =>
        refCache.changing(target, () => movePullHead({ runner }, target, number, move)).finally(() => moved(target)),
      repairNew: (target, refs) => repairNewRefs(runner, target, refs),
      gainedCommits: (target, move) => gainedByMove({ runner, readers, limits, logger }, target, move),
      hasNewMerges: (target, move) => hasNewMerges({ runner, limits }, target, move),
      isForward: (target, from, to) => isForward(browsing, target, from, to),
      head: (target) => browse.head(browsing, target),
      resolve: (target, revision, options) => browse.resolve(browsing, target, revision, options),
      list: readRefs,
      tip: readRef,
      state: async (target) => (await refCache.of(target))?.state() ?? null,
      async lastValue(target, ref, known) {
        const packed = await readPackedRef(target, ref);
        for (const oid of packed === null ? known : [...known, packed]) {
          const [info] = await readers.use(target, (reader) => reader.infos([oid]));
          if (info) return oid;
        }
        return null;
      },
    },

    transfers: {
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
    },

    objects: {
      keep: (target, tips) => keepObjects({ runner }, target, tips),
      release: (target, names) => releaseObjects({ runner }, target, names),
      commit: (target, oid) => browse.commit(browsing, target, oid),
      log: (target, oid, paging) => browse.log(browsing, target, oid, paging),
      namedCommits: (target, ids) => browse.namedCommits(browsing, target, ids),
      newCommits: (target, oid, known, bounds) => newCommits(browsing, target, oid, known, bounds),
      bytesOfNew: (target, objects) => measureNewObjects(browsing, target, objects),
      commitDays: (target, range) => commitDays(browsing, target, range),
      changedPaths: (target, from, to, bounds) => changedPaths(browsing, target, from, to, bounds),
      tree: (target, oid, at, paging) => browse.tree(browsing, target, oid, at, paging),
      entryAt: (target, oid, file) => browse.entryAt(browsing, target, oid, file),
      blob: (target, oid, bounds) => browse.blob(browsing, target, oid, bounds),
      smallBlobs: (target, range, options) => smallBlobs(runner, target, range, options),
    },

    remotes: {
      list: (remote, options) => listRemote(remotes, remote, options),
      hostKeyOf: (host) => hostKeyOf(remotes, host),
      lfsOf: (remote, operation, options) => requestLfsEndpoint(remotes, remote, operation, options),
      async fetch(target, remote, options) {
        await fetchRemote(remotes, target, remote, { ...options, maxBytes: options?.maxBytes ?? limits.maxPushBytes });
        maintenance.recordPush(target);
      },
      async fetchLocal(target, source, branch, refName) {
        const leave = await reads.acquire({ repository: source });
        try {
          return await fetchLocal(runner, target, source, branch, refName, limits.transferMs);
        } finally {
          leave();
          maintenance.recordPush(target);
        }
      },
      fetchedRefs: (target) => fetchedRefs(runner, target),
      push: (target, remote, options) => pushRemote(remotes, target, remote, options),
      bundles: createBundles(runner, {
        close: readers.close,
        recordPush: maintenance.recordPush,
        limits,
      }),
    },

    maintenance: {
      check: (target, depth) => checkRepository(runner, target, depth),
      checkObjectFiles,
      findDamagedIndexes,
      pack: maintenance.pack,
      packAll: maintenance.packAll,
      run: maintenance.run,
      recover: (target) => recoverRepository(target, bornAt),
      leftovers: (target, before, { remove }) => recoverRepository(target, before, { onlyLook: !remove }),
      async endStrayProcesses() {
        removeStrayPairs(folder);
        await removeStrayKeys(folder);
        if (runner.running() > 0) throw internal('stray processes are ended before git is used');
        return endStrayProcesses(program, settings.file);
      },
    },
    merges: createMerges(browsing, merging),
    caches: createCaches(runner, {
      changing: (target, work) => refCache.changing(target, work).finally(() => moved(target)),
      async leave(target) {
        await forget(target);
        await readers.close(target);
      },
    }),
    queries: reading,
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
    .filter(({ ref, newId }, at) => results[at]?.ok === true && ref.startsWith('refs/heads/') && !noRef.test(newId))
    .map(({ newId }) => newId);
}
