import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../files/index.ts';
import { eachLimit, unavailable } from '../kernel/index.ts';
import { folderFingerprint, hasPack, isRepository, isWhole, markFile, packFiles, packFolder } from './cache-files.ts';
import type { StoreDeps } from './deps.ts';
import type { createFolderLocks } from './folder-lock.ts';
import { repositoryMoves } from './find-row.ts';
import { readState } from './ref-rows.ts';
import type { StoredPack, StoredRepository } from './schema.ts';
import { downloadPack } from './transfer-packs.ts';

/** The state of which a folder is a copy. */
interface Mark {
  generation: number;
  /** Boot id of the kernel: caches are not synced, so after another boot their files may be damaged. */
  boot: string;
}

interface KnownFolder {
  generation: number;
  fingerprint: string;
  /** Names of the packs in the rows of that generation. */
  packs: ReadonlySet<string>;
}

const packsAtOnce = 4;
const maxTries = 5;
/** Packs without a row come from a fetch whose refs are not stored yet, or were replaced. */
const unnamedForMs = 60 * 60_000;
const touchedEveryMs = 60_000;

/** Folders of repositories in the store. */
export interface CacheFolders {
  folderOf(id: string): string;
  /** Whether a folder is one of these. */
  has(folder: string): boolean;
  /** Updates a folder; returns at once if it is current. @returns its path; throws `object_store_unavailable` */
  follow(row: StoredRepository): Promise<string>;
  /** Updates a folder, and protects it from eviction while work uses it. Throws `object_store_unavailable`. */
  using<Result>(row: StoredRepository, work: (folder: string) => Result): Promise<Awaited<Result>>;
  /** The same for work that ends elsewhere: the caller must call `end` once. */
  use(row: StoredRepository): Promise<{ folder: string; end(): void }>;
  /** Removes a folder that is not in use and was not used since a time. @returns whether it was removed */
  evict(id: string, unusedSince: number): Promise<boolean>;
  /** Names of the packs in the rows, as of the folder's generation; null if they were not read here. */
  packsOf(id: string): ReadonlySet<string> | null;
  /** Runs work with exclusive access to a folder. */
  locked<Result>(id: string, work: () => Promise<Result>): Promise<Result>;
  remove(id: string): Promise<void>;
}

export function createCacheFolders(deps: StoreDeps, lock: ReturnType<typeof createFolderLocks>): CacheFolders {
  const { local, directory, logger } = deps;
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const known = new Map<string, KnownFolder>();
  const touched = new Map<string, number>();
  /** Number of current uses of a folder. */
  const users = new Map<string, number>();
  const folderOf = (id: string): string => path.join(directory, `${id}.git`);

  function isCurrent(id: string, generation: number): boolean {
    const mark = known.get(id);
    return mark?.generation === generation && mark.fingerprint === folderFingerprint(folderOf(id));
  }

  async function readMark(folder: string): Promise<Mark | null> {
    try {
      return JSON.parse(readFileSync(path.join(folder, markFile), 'utf8')) as Mark;
    } catch {
      return null;
    }
  }

  /** Remembers a folder of this generation, if it has all files; others may have removed some. */
  async function remember(id: string, generation: number, named: ReadonlySet<string>): Promise<boolean> {
    // First, so that a change during the check is noticed by the next reader.
    const fingerprint = folderFingerprint(folderOf(id));
    if (fingerprint === null || !(await isWhole(folderOf(id), named))) return false;
    known.set(id, { generation, fingerprint, packs: named });
    return true;
  }

  async function writeMark(id: string, generation: number): Promise<void> {
    const file = path.join(folderOf(id), markFile);
    await writeFile(`${file}.new`, JSON.stringify({ generation, boot } satisfies Mark), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  /** Time of last use, for eviction. */
  function touch(id: string): void {
    const now = performance.now();
    if (now - (touched.get(id) ?? -Infinity) < touchedEveryMs) return;
    touched.set(id, now);
    const at = new Date();
    utimes(path.join(folderOf(id), markFile), at, at).catch(() => {});
  }

  /** Packs first, refs second, generation last. Returns false if the rows must be read again. */
  async function catchUp(id: string, generation: number): Promise<boolean> {
    const folder = folderOf(id);
    const mark = await readMark(folder);
    const isOfBoot = mark?.boot === boot;
    const last = known.get(id);
    // Files came or went, such as a pack of a push or loose objects: the rows need not be read.
    if (isOfBoot && mark.generation === generation && last?.generation === generation)
      if (await remember(id, generation, last.packs)) return true;
    const state = await readState(deps.db, id);
    if (state === null) throw repositoryMoves();
    const { row } = state;
    const named = new Set(state.packs.map(({ name }) => name));
    if (isOfBoot && mark.generation === row.generation && (await remember(id, row.generation, named))) return true;
    if (!isOfBoot || !(await isRepository(folder))) {
      await local.caches.leave(folder);
      await local.caches.create(folder, row.head);
    }
    const place = packFolder(folder);
    const there = await packFiles(folder);
    const missing = state.packs.filter(({ name }) => !hasPack(there, name));
    const faults: [StoredPack, string][] = [];
    await eachLimit(missing, packsAtOnce, async (pack) => {
      const fault = await downloadPack(deps, pack, place);
      if (fault !== null) faults.push([pack, fault]);
      else deps.metrics.downloaded(pack.packBytes + pack.indexBytes);
    });
    if (faults.length > 0) {
      for (const [{ key }, fault] of faults) logger.warn('repository_store.pack_fault', { repository: id, key, fault });
      return false;
    }
    await local.caches.changing(folder, async () => {
      await local.caches.writeRefs(folder, state.refs, row.head);
      await writeMark(id, row.generation);
    });
    await removeUnnamed(place, there, named);
    return remember(id, row.generation, named);
  }

  async function removeUnnamed(place: string, there: Iterable<string>, named: ReadonlySet<string>): Promise<void> {
    for (const file of there) {
      const name = /^pack-([0-9a-f]{40})\.[a-z]+$/.exec(file)?.[1];
      if (name === undefined || named.has(name)) continue;
      const found = await stat(path.join(place, file)).catch(nullIfAbsent);
      if (found !== null && Date.now() - found.mtimeMs > unnamedForMs)
        await rm(path.join(place, file), { force: true });
    }
  }

  async function follow({ id, generation }: StoredRepository): Promise<string> {
    touch(id);
    if (isCurrent(id, generation)) {
      deps.metrics.hit();
      return folderOf(id);
    }
    const startedAt = performance.now();
    const isCold = !existsSync(path.join(folderOf(id), markFile));
    await lock(folderOf(id), () => fetchInto(id, generation)).catch((error: unknown) => {
      deps.metrics.failed();
      throw error;
    });
    deps.metrics.fetched(isCold, performance.now() - startedAt);
    return folderOf(id);
  }

  async function fetchInto(id: string, generation: number): Promise<void> {
    if (isCurrent(id, generation)) return;
    // A folder that is removed while it is filled is filled again.
    for (let tries = 0; !(await catchUp(id, generation).catch(nullIfAbsent)); tries += 1)
      if (tries === maxTries)
        throw unavailable('object_store_unavailable', 'Objects of this repository are not in the store, or damaged.', {
          retryAfterSeconds: 60,
        });
  }

  async function use(row: StoredRepository): Promise<{ folder: string; end(): void }> {
    users.set(row.id, (users.get(row.id) ?? 0) + 1);
    const end = (): void => {
      const left = users.get(row.id)! - 1;
      if (left === 0) users.delete(row.id);
      else users.set(row.id, left);
    };
    try {
      return { folder: await follow(row), end };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Forgets the folder first, so that new users wait for the lock and fetch it again. */
  function forget(id: string): void {
    known.delete(id);
    touched.delete(id);
  }

  return {
    folderOf,
    follow,
    use,
    async using<Result>(row: StoredRepository, work: (folder: string) => Result): Promise<Awaited<Result>> {
      const { folder, end } = await use(row);
      try {
        return await work(folder);
      } finally {
        end();
      }
    },
    evict: (id, unusedSince) =>
      lock(folderOf(id), async () => {
        const folder = folderOf(id);
        // Commands in other processes store the time of their use.
        const mark = await stat(path.join(folder, markFile)).catch(nullIfAbsent);
        if (users.has(id) || (mark !== null && mark.mtimeMs > unusedSince)) return false;
        forget(id);
        await local.caches.leave(folder);
        const gone = path.join(directory, `gone-${randomUUID()}`);
        await rename(folder, gone).catch(nullIfAbsent);
        await rm(gone, { recursive: true, force: true, maxRetries: 5 });
        return true;
      }),
    has: (folder) => folder.startsWith(`${directory}${path.sep}`),
    packsOf: (id) => known.get(id)?.packs ?? null,
    locked: (id, work) => lock(folderOf(id), work),
    remove: (id) =>
      lock(folderOf(id), async () => {
        forget(id);
        await local.caches.leave(folderOf(id));
        await rm(folderOf(id), { recursive: true, force: true, maxRetries: 5 });
      }),
  };
}
