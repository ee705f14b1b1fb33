import { nullIfAbsent, syncPath } from '../../files/index.ts';
import path from 'node:path';
import type { RefResult } from './report-status.ts';

/**
 * Makes moved refs durable across a power failure. git syncs files and then renames them, which is only in memory:
 * without this, one acknowledged push in a few was lost after the disk stopped
 * (`test/chaos/full-and-failing-disks.test.ts`).
 * @param hasDeletions whether a ref was removed, also from `packed-refs`, which is replaced by a rename
 */
export async function syncMovedRefs(
  repository: string,
  results: readonly RefResult[],
  hasDeletions: boolean,
): Promise<void> {
  const folders = new Set<string>();
  for (const { ref } of results.filter(({ ok }) => ok)) {
    // Folders may be new, so each parent folder is synced as well, up to `refs/heads`.
    const names = ref.split('/');
    for (let depth = names.length - 1; depth >= 2; depth -= 1) folders.add(names.slice(0, depth).join('/'));
  }
  if (folders.size > 0 && hasDeletions) folders.add('.');
  await Promise.all([...folders].map((folder) => syncFolder(path.join(repository, folder))));
}

/** Syncs the directory entries of a folder, which may have been removed with its last ref. */
export async function syncFolder(folder: string): Promise<void> {
  await syncPath(folder).catch(nullIfAbsent);
}
