import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { rows } from '../db/index.ts';
import { gerritFolders, refuseRef } from '../git/index.ts';
import type { Git, RefResult } from '../git/index.ts';
import { internal, isDomainError, noRef } from '../kernel/index.ts';
import { createStored, forkStored, removeStored } from './create-stored.ts';
import { landMoves } from './land-moves.ts';
import type { Landing } from './land-moves.ts';
import { moveToFolder } from './move-to-folder.ts';
import { moveToStore } from './move-to-store.ts';
import type { MoveDeps } from './move-to-store.ts';
import { packStored } from './pack-stored.ts';
import type { StoreMove } from './ref-rows.ts';
import { storedIdOf } from './stored-id.ts';
import { createStoreMaintenance } from './maintain-store.ts';
import { storedRepositorySchema } from './schema.ts';
import type { StoredRepository } from './schema.ts';

type PushRequest = Parameters<Git['transfers']['receivePack']>[0];
type Work = (target: string, ...rest: never[]) => unknown;
type Service = object;

export interface StoredGitOptions {
  /** Whether new repositories are created in the store. */
  createsHere: boolean;
  /** Size limit of all caches; null: a share of the disk. */
  cacheBytes: number | null;
}

const hiddenFolder = 'refs/hearth/';

/**
 * The same interface for both kinds of repositories. One in the store is read from its folder, which is updated first;
 * changes go to the rows. Paths without a row are handled by this machine's git.
 */
export function createStoredGit(deps: MoveDeps, { createsHere, cacheBytes }: StoredGitOptions): Git {
  const { local, db, folders, gate } = deps;
  const storeMaintenance = createStoreMaintenance(deps, cacheBytes);

  async function find(target: string): Promise<StoredRepository | null> {
    const id = storedIdOf(target, deps.roots);
    return id === null ? null : ((await db.lookup(storedRepositorySchema, { id }))[0] ?? null);
  }

  /** Runs work in the folder of a repository; one in the store is updated first. */
  async function at<Result>(target: string, work: (folder: string) => Result): Promise<Awaited<Result>> {
    const row = await find(target);
    if (row === null) return await work(target);
    const { folder, end } = await folders.use(row).catch(async (error: unknown) => {
      // It was stored as a folder in between.
      if (isDomainError(error) && error.reason === 'repository_moves' && (await find(target)) === null)
        return { folder: target, end() {} };
      throw error;
    });
    try {
      return await work(folder);
    } finally {
      end();
    }
  }

  /** All functions of a service whose first parameter is a path, applied to the folder; `own` overrides some. */
  function following<S extends Service>(service: S, own: Partial<S>): S {
    const wrapped = Object.entries(service).map(([name, work]) => [
      name,
      own[name as keyof S] ??
        ((target: string, ...rest: never[]) => at(target, (folder) => (work as Work)(folder, ...rest))),
    ]);
    return Object.fromEntries(wrapped) as S;
  }

  const land = (row: StoredRepository, folder: string, moves: readonly StoreMove[], more: Partial<Landing> = {}) =>
    landMoves(deps, row, { moves, source: folder, ...more });

  /** Chooses between an operation for repositories in the store and one for all others. */
  const either =
    <Rest extends unknown[], Result>(
      stored: (row: StoredRepository, ...rest: Rest) => Promise<Result>,
      otherwise: (target: string, ...rest: Rest) => Promise<Result>,
    ) =>
    async (target: string, ...rest: Rest): Promise<Result> => {
      const row = await find(target);
      return row === null ? otherwise(target, ...rest) : stored(row, ...rest);
    };

  /** The same for changes of a repository: waits while it moves from its folder to the store. */
  const changing =
    <Rest extends unknown[], Result>(
      stored: (row: StoredRepository, ...rest: Rest) => Promise<Result>,
      otherwise: (target: string, ...rest: Rest) => Promise<Result>,
    ) =>
    async (target: string, ...rest: Rest): Promise<Result> => {
      const id = storedIdOf(target, deps.roots);
      const both = either(stored, otherwise);
      return id === null ? otherwise(target, ...rest) : gate.change(id, () => both(target, ...rest));
    };

  async function one(row: StoredRepository, move: StoreMove): Promise<RefResult> {
    const [result] = await folders.using(row, (folder) => land(row, folder, [move]));
    return result!;
  }

  function pullRef(number: number, name: 'head' | 'merge'): string {
    if (!Number.isSafeInteger(number) || number < 1) throw internal('not the number of a pull request');
    return `refs/pull/${number}/${name}`;
  }

  const storage: Git['storage'] = {
    pathOf: local.storage.pathOf,
    async create(target, options) {
      const id = storedIdOf(target, deps.roots);
      const parent = id?.endsWith('.wiki') === true ? await find(path.dirname(target)) : null;
      if (id === null || (id.endsWith('.wiki') ? parent === null : !createsHere))
        return local.storage.create(target, options);
      return createStored(deps, id, options.defaultBranch);
    },
    exists: either(async () => true, local.storage.exists),
    folderOf: (target) => at(target, (folder) => folder),
    async fork(source, target, request) {
      const id = storedIdOf(target, deps.roots);
      const row = await find(source);
      if (row === null || id === null) return local.storage.fork(source, target, request);
      return forkStored(deps, row.id, id, request);
    },
    size: either(
      async (row) => (await measure(row)).bytes,
      (target) => local.storage.size(target),
    ),
    measure: either(measure, local.storage.measure),
    // Its folder is a cache whose location is independent of owners and the trash.
    move: changing(
      async (_row, _to: string) => undefined,
      (from: string, to: string) => local.storage.move(from, to),
    ),
    async remove(target) {
      const row = await find(target);
      if (row !== null) await removeStored(deps, row.id);
      // Includes leftovers of a move to the store.
      await local.storage.remove(target);
    },
    async moveTo(target, place) {
      const id = storedIdOf(target, deps.roots);
      if (id === null || (place === 'store' && !createsHere)) return local.storage.moveTo(target, place);
      const moved = place === 'store' ? [await keepInStore(target), await keepInStore(wikiOf(target))] : [];
      if (place === 'local') {
        // A wiki that has not moved is in the folder of its repository, which is recreated.
        if ((await find(target)) !== null) await keepInStore(wikiOf(target));
        for (const each of [target, wikiOf(target)]) {
          const row = await find(each);
          moved.push(row === null ? null : await moveToFolder(deps, row.id, each));
        }
      }
      const sent = moved.filter((bytes) => bytes !== null);
      return sent.length === 0 ? null : sent.reduce((sum, bytes) => sum + bytes, 0);
    },
  };

  const wikiOf = (target: string): string => path.join(target, 'wiki.git');

  /** Null for one in the store, and for a missing one. A wiki moves before its repository, whose folder contains it. */
  async function keepInStore(target: string): Promise<number | null> {
    const id = storedIdOf(target, deps.roots)!;
    if ((await find(target)) !== null || !(await local.storage.exists(target))) return null;
    const wiki = id.endsWith('.wiki') ? null : await keepInStore(wikiOf(target));
    return (await moveToStore(deps, id, target)) + (wiki ?? 0);
  }

  /** Packs also used by a fork are in the store once. */
  async function measure({ id }: StoredRepository) {
    const [sums] = await rows<{ bytes: number; shared: number }>(
      db.read,
      `SELECT CAST(coalesce(sum(p.pack_bytes + p.index_bytes), 0) AS bigint) AS bytes,
          CAST(coalesce(sum(CASE WHEN EXISTS (SELECT 1 FROM git_packs o WHERE o.key = p.key AND o.repository <> p.repository)
            THEN p.pack_bytes + p.index_bytes ELSE 0 END), 0) AS bigint) AS shared
        FROM git_packs p WHERE p.repository IN (?, ?) AND p.replaced_at IS NULL`,
      [id, `${id}.wiki`],
    );
    return { bytes: Number(sums!.bytes), sharedBytes: Number(sums!.shared) };
  }

  const refs = following(local.refs, {
    setHead: changing(
      async (row, branch: string) =>
        void (await folders.using(row, (folder) => land(row, folder, [], { head: branch }))),
      local.refs.setHead,
    ),
    move: changing(async (row, moves) => {
      const refused = new Map<number, string>();
      const wanted = moves.filter(({ ref, oldId }, place) => {
        const reason = refuseRef(Buffer.from(ref), noRef.test(oldId), gerritFolders);
        if (reason !== null) refused.set(place, reason);
        return reason === null;
      });
      const results = wanted.length === 0 ? [] : await folders.using(row, (folder) => land(row, folder, wanted));
      return moves.map(({ ref }, place) => {
        const reason = refused.get(place);
        return reason === undefined ? results.shift()! : { ref, ok: false, reason };
      });
    }, local.refs.move),
    setPull: changing(async (row, number, name, oid) => {
      const newId = oid ?? '0'.repeat(40);
      const { ok, reason } = await one(row, { ref: pullRef(number, name), oldId: null, newId });
      if (!ok) throw internal('the ref of a pull request was not set', { cause: reason });
    }, local.refs.setPull),
    movePullHead: changing(async (row, number, { from, to }) => {
      const oldId = from ?? '0'.repeat(to.length);
      return (await one(row, { ref: pullRef(number, 'head'), oldId, newId: to })).ok;
    }, local.refs.movePullHead),
    // Visible rows are durable.
    repairNew: either(async (_row, _refs) => [], local.refs.repairNew),
  });

  type Tips = Parameters<Git['objects']['keep']>[1];

  async function keepRefs(row: StoredRepository, folder: string, tips: Tips): Promise<string[]> {
    const there = await local.caches.ends(folder, [...new Set(tips.map(({ oid }) => oid))]);
    const kept = tips.filter(({ oid }) => there.has(oid));
    const moves = kept.map(({ name, oid }) => ({ ref: hiddenFolder + name, oldId: null, newId: oid }));
    if (moves.length > 0) await land(row, folder, moves);
    return kept.map(({ name }) => name);
  }

  async function releaseRefs(row: StoredRepository, folder: string, names: readonly string[]): Promise<void> {
    // Refs of a fetch are files of the folder, without rows.
    const own = names.filter((name) => existsSync(path.join(folder, hiddenFolder + name)));
    if (own.length > 0) await local.objects.release(folder, own);
    const moves = names
      .filter((name) => !own.includes(name))
      .map((name) => ({ ref: hiddenFolder + name, oldId: null, newId: '0'.repeat(40) }));
    if (moves.length > 0) await land(row, folder, moves);
  }

  async function receive(row: StoredRepository, folder: string, request: PushRequest) {
    const scratch = await local.caches.openScratch(folder);
    try {
      return await local.transfers.receivePack({
        ...request,
        path: folder,
        landing: {
          path: scratch,
          land: (moves, options) =>
            landMoves(deps, row, { moves, source: scratch, ...options }).catch((error: unknown) =>
              // Nothing has happened: the client gets the reason, and its connection stays open. If the outcome is
              // unknown, "rejected" would be a guess.
              isDomainError(error) && error.reason !== 'outcome_unknown'
                ? moves.map(({ ref }) => ({ ref, ok: false, reason: error.message }))
                : Promise.reject(error),
            ),
        },
      });
    } finally {
      await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  const objects = following(local.objects, {
    keep: changing((row, tips) => folders.using(row, (folder) => keepRefs(row, folder, tips)), local.objects.keep),
    release: changing(
      (row, names) => folders.using(row, (folder) => releaseRefs(row, folder, names)),
      local.objects.release,
    ),
    async *smallBlobs(target, range, options) {
      const row = await find(target);
      const used = row === null ? null : await folders.use(row);
      try {
        yield* local.objects.smallBlobs(used?.folder ?? target, range, options);
      } finally {
        used?.end();
      }
    },
  });

  const transfers: Git['transfers'] = {
    advertiseRefs: (request) =>
      at(request.path, (folder) => local.transfers.advertiseRefs({ ...request, path: folder })),
    uploadPack: (request) => at(request.path, (folder) => local.transfers.uploadPack({ ...request, path: folder })),
    uploadArchive: (request) =>
      at(request.path, (folder) => local.transfers.uploadArchive({ ...request, path: folder })),
    receivePack: (request) =>
      changing(
        (row) => folders.using(row, (folder) => receive(row, folder, request)),
        () => local.transfers.receivePack(request),
      )(request.path),
  };

  const { bundles } = local.remotes;
  const remotes = following(local.remotes, {
    list: local.remotes.list,
    hostKeyOf: local.remotes.hostKeyOf,
    lfsOf: local.remotes.lfsOf,
    fetchLocal: (target, source, branch, refName) =>
      at(target, (folder) => at(source, (from) => local.remotes.fetchLocal(folder, from, branch, refName))),
    bundles: {
      write: (request) => at(request.path, (folder) => bundles.write({ ...request, path: folder })),
      read: bundles.read,
      takeObjects: (scratch, target) => at(target, (folder) => bundles.takeObjects(scratch, folder)),
    },
  });

  const maintenance = following(local.maintenance, {
    async run(shouldContinue) {
      return (await local.maintenance.run(shouldContinue)) + (await storeMaintenance.often(shouldContinue));
    },
    endStrayProcesses: local.maintenance.endStrayProcesses,
    pack: changing((row) => packStored(deps, row.id), local.maintenance.pack),
    async packAll(targets, shouldContinue) {
      const own: string[] = [];
      for (const target of targets) if ((await find(target)) === null) own.push(target);
      const packed = await local.maintenance.packAll(own, shouldContinue);
      return packed + ((await shouldContinue()) ? await storeMaintenance.nightly(shouldContinue) : 0);
    },
    // Leftovers of a killed git in a cache do no harm.
    recover: either(async () => [], local.maintenance.recover),
    leftovers: either(async (_row, _before, _options) => [], local.maintenance.leftovers),
  });

  const queries = following(local.queries, {
    distanceBetween: (target, from, other, to) =>
      at(target, (folder) => at(other, (second) => local.queries.distanceBetween(folder, from, second, to))),
  });

  return {
    ...local,
    storage,
    refs,
    transfers,
    objects,
    remotes,
    maintenance,
    merges: following(local.merges, {}),
    queries,
  };
}
