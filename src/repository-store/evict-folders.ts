import { readdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../files/index.ts';
import type { StoreDeps } from './deps.ts';
import { markFile } from './cache-files.ts';
import type { CacheFolders } from './follow-folder.ts';

/** A recently used folder may be in use by a command in another process. */
const quietMs = 10 * 60_000;
/** Leftovers of a killed process beside the folders: packs being created, incoming pushes, folders being removed. */
const passing = /^(packs-|push-|gone-)/;
const passingForMs = 24 * 60 * 60_000;
const defaultShare = 0.8;

interface CachedFolder {
  id: string;
  bytes: number;
  usedAt: number;
}

/**
 * Removes least recently used caches until all are within the limit, and leftovers of processes killed a day ago.
 * @param limits.maxBytes null: a share of the disk
 * @returns the number of removed folders, and the bytes of the remaining ones
 */
export async function evictFolders(
  {
    directory,
    folders,
    logger,
    metrics,
  }: Pick<StoreDeps, 'directory' | 'logger' | 'metrics'> & { folders: CacheFolders },
  { maxBytes, quiet = quietMs }: { maxBytes: number | null; quiet?: number },
): Promise<{ removed: number; bytes: number }> {
  const names = (await readdir(directory).catch(nullIfAbsent)) ?? [];
  const now = Date.now();
  const cached: CachedFolder[] = [];
  for (const name of names) {
    const folder = path.join(directory, name);
    if (passing.test(name)) {
      const found = await stat(folder).catch(nullIfAbsent);
      if (found !== null && now - found.mtimeMs > passingForMs)
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    } else if (name.endsWith('.git')) cached.push(await measure(folder, name.slice(0, -'.git'.length)));
  }
  let bytes = cached.reduce((sum, one) => sum + one.bytes, 0);
  const limit = maxBytes ?? (names.length === 0 ? 0 : await shareOfDisk(directory));
  let removed = 0;
  for (const { id, bytes: own } of cached.sort((a, b) => a.usedAt - b.usedAt)) {
    if (bytes <= limit) break;
    if (!(await folders.evict(id, now - quiet))) continue;
    bytes -= own;
    removed += 1;
  }
  metrics.measured({ removed, bytes, limit });
  if (removed > 0) logger.info('repository_store.evicted', { folders: removed, bytes, limit });
  return { removed, bytes };
}

/** The limit of the folders unless the settings have one. */
export async function shareOfDisk(directory: string): Promise<number> {
  const { blocks, bsize } = await statfs(directory);
  return Math.floor(blocks * bsize * defaultShare);
}

/** Allocated blocks, as `du` counts. A folder without its mark is incomplete, and is removed first. */
async function measure(folder: string, id: string): Promise<CachedFolder> {
  let bytes = 0;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const { parentPath, name } of entries)
    bytes += ((await stat(path.join(parentPath, name)).catch(() => null))?.blocks ?? 0) * 512;
  const mark = await stat(path.join(folder, markFile)).catch(nullIfAbsent);
  return { id, bytes, usedAt: mark?.mtimeMs ?? 0 };
}
