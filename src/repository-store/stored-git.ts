import { access, rm } from 'node:fs/promises';
import path from 'node:path';
import { rows } from '../db/index.ts';
import { gerritFolders, refuseRef } from '../git/index.ts';
import type { Git, RefResult } from '../git/index.ts';
import { internal, isDomainError, noRef } from '../kernel/index.ts';
import { createStored, forkStored, removeStored } from './create-stored.ts';
import type { StoreDeps } from './deps.ts';
import type { CacheFolders } from './follow-folder.ts';
import type { Journal } from './journal.ts';
import { landMoves } from './land-moves.ts';
import type { Landing } from './land-moves.ts';
import { packStored, packStoredRepositories } from './pack-stored.ts';
import type { StoreMove } from './ref-rows.ts';
import { storedIdOf } from './stored-id.ts';
import { storedRepositorySchema } from './schema.ts';
import type { StoredRepository } from './schema.ts';

type Work = (target: string, ...rest: never[]) => unknown;
type Service = object;

const hiddenFolder = 'refs/hearth/';

/**
 * The same interface for both kinds of repositories. One of the store is read in its folder, which is made current
 * first; what changes it goes to the rows. A path that no row stands for is left to the git of this machine.
 */
export function createStoredGit(
  deps: StoreDeps & { folders: CacheFolders; journal: Journal },
  { createsHere }: { createsHere: boolean },
): Git {
  const { local, db, folders } = deps;

  async function find(target: string): Promise<StoredRepository | null> {
    const id = storedIdOf(target, deps.roots);
    return id === null ? null : ((await db.lookup(storedRepositorySchema, { id }))[0] ?? null);
  }

  /** Runs work in the folder of a repository: current, for one of the store. */
  async function at<Result>(target: string, work: (folder: string) => Result): Promise<Awaited<Result>> {
    const row = await find(target);
    return await work(row === null ? target : await folders.follow(row));
  }

  /** All functions of a service that take a path first, on the folder; `own` has those that do something else. */
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

  /** Does one thing for repositories of the store, another for the rest. */
  const either =
    <Rest extends unknown[], Result>(
      stored: (row: StoredRepository, ...rest: Rest) => Promise<Result>,
      otherwise: (target: string, ...rest: Rest) => Promise<Result>,
    ) =>
    async (target: string, ...rest: Rest): Promise<Result> => {
      const row = await find(target);
      return row === null ? otherwise(target, ...rest) : stored(row, ...rest);
    };

  async function one(row: StoredRepository, move: StoreMove): Promise<RefResult> {
    const [result] = await land(row, await folders.follow(row), [move]);
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
    // Its folder is a cache whose place says nothing of owners or the trash.
    move: either(
      async (_row, _to: string) => undefined,
      (from: string, to: string) => local.storage.move(from, to),
    ),
    remove: either((row) => removeStored(deps, row.id), local.storage.remove),
  };

  /** Packs that a fork names, too, are in the store once. */
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
    setHead: either(
      async (row, branch: string) => void (await land(row, folders.folderOf(row.id), [], { head: branch })),
      local.refs.setHead,
    ),
    move: either(async (row, moves) => {
      const refused = new Map<number, string>();
      const wanted = moves.filter(({ ref, oldId }, place) => {
        const reason = refuseRef(Buffer.from(ref), noRef.test(oldId), gerritFolders);
        if (reason !== null) refused.set(place, reason);
        return reason === null;
      });
      const results = wanted.length === 0 ? [] : await land(row, await folders.follow(row), wanted);
      return moves.map(({ ref }, place) => {
        const reason = refused.get(place);
        return reason === undefined ? results.shift()! : { ref, ok: false, reason };
      });
    }, local.refs.move),
    setPull: either(async (row, number, name, oid) => {
      const newId = oid ?? '0'.repeat(40);
      const { ok, reason } = await one(row, { ref: pullRef(number, name), oldId: null, newId });
      if (!ok) throw internal('the ref of a pull request was not set', { cause: reason });
    }, local.refs.setPull),
    movePullHead: either(async (row, number, { from, to }) => {
      const oldId = from ?? '0'.repeat(to.length);
      return (await one(row, { ref: pullRef(number, 'head'), oldId, newId: to })).ok;
    }, local.refs.movePullHead),
    // A row is durable when it can be seen.
    repairNew: either(async (_row, _refs) => [], local.refs.repairNew),
  });

  const objects = following(local.objects, {
    keep: either(async (row, tips) => {
      const folder = await folders.follow(row);
      const there = await local.caches.ends(folder, [...new Set(tips.map(({ oid }) => oid))]);
      const kept = tips.filter(({ oid }) => there.has(oid));
      if (kept.length > 0)
        await land(
          row,
          folder,
          kept.map(({ name, oid }) => ({ ref: hiddenFolder + name, oldId: null, newId: oid })),
        );
      return kept.map(({ name }) => name);
    }, local.objects.keep),
    release: either(async (row, names) => {
      const folder = await folders.follow(row);
      // Refs of a fetch are files of the folder, and in no row.
      const own: string[] = [];
      for (const name of names)
        if (
          await access(path.join(folder, hiddenFolder + name)).then(
            () => true,
            () => false,
          )
        )
          own.push(name);
      if (own.length > 0) await local.objects.release(folder, own);
      const moves = names
        .filter((name) => !own.includes(name))
        .map((name) => ({ ref: hiddenFolder + name, oldId: null, newId: '0'.repeat(40) }));
      if (moves.length > 0) await land(row, folder, moves);
    }, local.objects.release),
    async *smallBlobs(target, range, options) {
      yield* await at(target, (folder) => ({ blobs: local.objects.smallBlobs(folder, range, options) })).then(
        ({ blobs }) => blobs,
      );
    },
  });

  const transfers: Git['transfers'] = {
    advertiseRefs: (request) =>
      at(request.path, (folder) => local.transfers.advertiseRefs({ ...request, path: folder })),
    uploadPack: (request) => at(request.path, (folder) => local.transfers.uploadPack({ ...request, path: folder })),
    uploadArchive: (request) =>
      at(request.path, (folder) => local.transfers.uploadArchive({ ...request, path: folder })),
    async receivePack(request) {
      const row = await find(request.path);
      if (row === null) return local.transfers.receivePack(request);
      const folder = await folders.follow(row);
      const scratch = await local.caches.openScratch(folder);
      try {
        return await local.transfers.receivePack({
          ...request,
          path: folder,
          landing: {
            path: scratch,
            land: (moves, options) =>
              landMoves(deps, row, { moves, source: scratch, ...options }).catch((error: unknown) =>
                // Nothing has happened: the client is told why, and its connection is not cut.
                isDomainError(error)
                  ? moves.map(({ ref }) => ({ ref, ok: false, reason: error.message }))
                  : Promise.reject(error),
              ),
          },
        });
      } finally {
        await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
      }
    },
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
      return (await local.maintenance.run(shouldContinue)) + (await packStoredRepositories(deps, shouldContinue));
    },
    endStrayProcesses: local.maintenance.endStrayProcesses,
    pack: either((row) => packStored(deps, row.id), local.maintenance.pack),
    async packAll(targets, shouldContinue) {
      const own: string[] = [];
      for (const target of targets) if ((await find(target)) === null) own.push(target);
      return local.maintenance.packAll(own, shouldContinue);
    },
    // What a killed git leaves in a cache is of no consequence.
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
