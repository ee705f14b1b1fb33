import { smallBlobs } from './objects/small-blobs.ts';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { conflict, internal, noRef } from '../kernel/index.ts';
import * as browse from './objects/browse.ts';
import { fetchLocal } from './forks/fetch-local.ts';
import { forkRepository } from './forks/fork-repository.ts';
import { commitDays } from './queries/commit-activity.ts';
import { changedPaths } from './objects/changed-paths.ts';
import { checkRepositoryFiles, findDamagedIndexes } from './maintenance/check-repository-files.ts';
import { checkRepository } from './maintenance/check-and-pack.ts';
import { repairNewRefs } from './pushes/sync-new-refs.ts';
import { hasNewMerges } from './pushes/linear-check.ts';
import { gainedByMove } from './pushes/signed-check.ts';
import { isForward, keepObjects, movePullHead, moveRefs, releaseObjects, setPullRef } from './pushes/move-refs.ts';
import type { RefMove } from './pushes/ref-move.ts';
import { measureNewObjects } from './queries/measure-new-objects.ts';
import { newCommits } from './objects/new-commits.ts';
import { createBundles } from './remotes/bundle.ts';
import { receivePack } from './pushes/receive-pack.ts';
import type { RefResult } from './pushes/report-status.ts';
import { recoverRepository } from './maintenance/recover.ts';
import { readPackedRef, readRef, readRefs } from './refs/refs.ts';
import { fetchRemote, fetchedRefs, hostKeyOf, listRemote, pushRemote } from './remotes/fetch-and-push.ts';
import { requestLfsEndpoint } from './remotes/lfs-authenticate.ts';
import { removeStrayKeys } from './remotes/ssh.ts';
import { removeStrayPairs } from './spawner/socket-pairs.ts';
import * as storage from './storage.ts';
import { endStrayProcesses } from './processes/stray-processes.ts';
import { createGitTraffic } from './traffic.ts';
import { createCaches } from './caches/cache-folders.ts';
import { createMerges } from './merges/merges.ts';
import { uploadArchive, uploadPack } from './fetches/upload-pack.ts';
import type { Git } from './git-services.ts';
import { openParts } from './open-parts.ts';
import type { GitOptions, GitParts } from './open-parts.ts';
import { loadOf } from './slots.ts';

/** Finds git, checks its version, and writes the settings of every git process. Throws `git_missing`, `git_too_old`. */
export async function createGit(options: GitOptions): Promise<Git> {
  const parts = await openParts(options);
  const { program, runner, readers, slots, refCache, browsing, queries, forget } = parts;
  return {
    version: parts.version.text,
    storage: storageOf(parts),
    refs: refsOf(parts),
    transfers: transfersOf(parts),
    objects: objectsOf(parts),
    remotes: remotesOf(parts),
    maintenance: maintenanceOf(parts),
    merges: createMerges(browsing, slots.merging),
    caches: createCaches(runner, {
      changing: (target, work) => refCache.changing(target, work).finally(() => queries.moved(target)),
      async leave(target) {
        await forget(target);
        await readers.close(target);
      },
    }),
    queries: queries.reading,
    load: () => ({
      processes: runner.running(),
      reads: loadOf(slots.reads),
      writes: loadOf(slots.writes),
      short: loadOf(slots.short),
    }),
    isUsable: () =>
      access(program, constants.X_OK).then(
        () => true,
        () => false,
      ),
    traffic: createGitTraffic(),
    useSpawner: parts.useSpawner,
    stop: parts.stop,
  };
}

const storageOf = ({ config, runner, slots, readers, maintenance, queries, forget }: GitParts): Git['storage'] => ({
  pathOf: (ownerId, repositoryId) => storage.repositoryPath(config.storage.root, ownerId, repositoryId),
  create: (target, { defaultBranch }) => storage.createRepository(runner, target, defaultBranch),
  exists: storage.repositoryExists,
  folderOf: async (target) => target,
  async fork(source, target, request) {
    const leave = await slots.reads.acquire({ repository: source });
    try {
      // Like a push, pauses maintenance: maintenance of the source would remove packs during the linking.
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
    await queries.forget(target);
  },
  async moveTo(_target, place) {
    if (place === 'local') return null;
    throw conflict(
      'repository_store_not_set',
      'Repositories are stored in folders: set git.storage = "store" and restart the server.',
    );
  },
});

const refsOf = ({
  runner,
  readers,
  limits,
  logger,
  slots,
  refCache,
  maintenance,
  queries,
  browsing,
}: GitParts): Git['refs'] => ({
  setHead: (target, branch) => refCache.changing(target, () => storage.setHead(runner, target, branch)),
  async move(target, moves) {
    const move = () =>
      refCache
        .changing(target, () => moveRefs({ runner, readers, slots: slots.writes }, target, moves))
        .finally(() => queries.moved(target));
    const results = await maintenance.aroundPush(target, move);
    maintenance.recordPush(target);
    refCache.recordCommits(target, branchTips({ updates: moves, results }));
    return results;
  },
  setPull: (target, number, name, oid) =>
    refCache
      .changing(target, () => setPullRef({ runner }, target, number, name, oid))
      .finally(() => queries.moved(target)),
  movePullHead: (target, number, move) =>
    refCache
      .changing(target, () => movePullHead({ runner }, target, number, move))
      .finally(() => queries.moved(target)),
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
});

const transfersOf = ({ listings, upload, receiving, refCache, maintenance, queries }: GitParts): Git['transfers'] => ({
  advertiseRefs: listings.advertiseRefs,
  uploadPack: (request) => uploadPack(upload, request),
  uploadArchive: (request) => uploadArchive(upload, request),
  async receivePack(request) {
    const push = () =>
      refCache.changing(request.path, () => receivePack(receiving, request)).finally(() => queries.moved(request.path));
    const outcome = await maintenance.aroundPush(request.path, push);
    if (outcome.kind === 'reported') {
      maintenance.recordPush(request.path);
      refCache.recordCommits(request.path, branchTips(outcome));
    }
    return outcome;
  },
});

const objectsOf = ({ runner, browsing }: GitParts): Git['objects'] => ({
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
});

const remotesOf = ({ runner, readers, remotes, limits, slots, maintenance }: GitParts): Git['remotes'] => ({
  list: (remote, options) => listRemote(remotes, remote, options),
  hostKeyOf: (host) => hostKeyOf(remotes, host),
  lfsOf: (remote, operation, options) => requestLfsEndpoint(remotes, remote, operation, options),
  async fetch(target, remote, options) {
    await fetchRemote(remotes, target, remote, { ...options, maxBytes: options?.maxBytes ?? limits.maxPushBytes });
    maintenance.recordPush(target);
  },
  async fetchLocal(target, source, branch, refName) {
    const leave = await slots.reads.acquire({ repository: source });
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
});

const maintenanceOf = ({ runner, program, folder, settings, bornAt, maintenance }: GitParts): Git['maintenance'] => ({
  check: (target, depth) => checkRepository(runner, target, depth),
  checkRepositoryFiles,
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
});

/** Branch tips of a push: git accepts only commits there. */
function branchTips({ updates, results }: { updates: readonly RefMove[]; results: readonly RefResult[] }): string[] {
  return updates
    .filter(({ ref, newId }, at) => results[at]?.ok === true && ref.startsWith('refs/heads/') && !noRef.test(newId))
    .map(({ newId }) => newId);
}
