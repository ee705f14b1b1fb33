import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { GitRunner } from '../processes/git-runner.ts';
import type { RefResult } from './push-report.ts';
import { isWellFormedRef } from '../refs/ref-name.ts';
import { syncFolder, syncMovedRefs } from './sync-refs.ts';

/**
 * A push that makes so many refs, and does nothing else, has them synced together: git would sync each for
 * itself, some milliseconds each. From here on that takes longer than packing them.
 */
export const manyNewRefs = 50;

/** git must write `packed-refs` anew; a repository has at most some hundred thousand lines there. */
const packMs = 120_000;
const filesAtOnce = 16;
const refValue = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/;

/**
 * Makes sure that refs which git has made without syncing them stay after a power failure: they are packed,
 * and `packed-refs` is synced, which is one file. Where that does not work, each of them is synced.
 */
export async function syncNewRefs(door: GitRunner, repository: string, results: readonly RefResult[]): Promise<void> {
  const made = results.filter(({ ok }) => ok);
  if (made.length === 0) return;
  const argv = [`--git-dir=${repository}`, 'pack-refs', '--all'];
  const packed = await door.run({ argv, timeLimitMs: packMs }, 4_096).catch(() => null);
  if (packed?.code === 0) {
    await syncFolder(repository);
    return;
  }
  for (let start = 0; start < made.length; start += filesAtOnce)
    await Promise.all(made.slice(start, start + filesAtOnce).map(({ ref }) => syncFile(path.join(repository, ref))));
  await syncMovedRefs(repository, made, true);
}

/** One that is not there any more was packed meanwhile, by a git that syncs what it packs. */
async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/**
 * After a crash: what a push was about to make and had not synced may be there without its value, which would
 * break every fetch. It was never acknowledged, so it goes; the others stay, synced.
 * @param refs names of refs that an unsettled push was to make
 * @returns those that were removed
 */
export async function repairNewRefs(door: GitRunner, repository: string, refs: readonly string[]): Promise<string[]> {
  const removed: string[] = [];
  const there: RefResult[] = [];
  for (const ref of refs.filter(isWellFormedRef)) {
    const file = path.join(repository, ref);
    const value = await readFile(file, 'latin1').catch(() => null);
    if (value === null) continue;
    if (refValue.test(value)) {
      there.push({ ref, ok: true });
    } else {
      await rm(file, { force: true });
      removed.push(ref);
    }
  }
  if (there.length >= manyNewRefs) await syncNewRefs(door, repository, there);
  return removed;
}
