import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { GitRunner } from '../processes/git-runner.ts';
import type { RefResult } from './report-status.ts';
import { isWellFormedRef } from '../refs/ref-name.ts';
import { syncFolder, syncMovedRefs } from './sync-refs.ts';

/**
 * Number of refs from which a push that only creates refs syncs them together: git would sync them one by one, at some
 * milliseconds each, which takes longer than packing them.
 */
export const manyNewRefs = 50;

/** Time limit: git must rewrite `packed-refs`, which has at most some hundred thousand lines. */
const packMs = 120_000;
const filesAtOnce = 16;
const refValue = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/;

/**
 * Makes refs durable that git created without syncing them: packs them and syncs `packed-refs`, a single file. If that
 * fails, syncs each of them.
 */
export async function syncNewRefs(runner: GitRunner, repository: string, results: readonly RefResult[]): Promise<void> {
  const made = results.filter(({ ok }) => ok);
  if (made.length === 0) return;
  const argv = [`--git-dir=${repository}`, 'pack-refs', '--all'];
  const packed = await runner.run({ argv, timeLimitMs: packMs }, 4_096).catch(() => null);
  if (packed?.code === 0) {
    await syncFolder(repository);
    return;
  }
  for (let start = 0; start < made.length; start += filesAtOnce)
    await Promise.all(made.slice(start, start + filesAtOnce).map(({ ref }) => syncFile(path.join(repository, ref))));
  await syncMovedRefs(repository, made, true);
}

/** A missing ref file was packed in the meantime, by a git that syncs `packed-refs`. */
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
 * Repairs refs after a crash: a ref that a push was creating and had not synced may exist without its value, which
 * would break every fetch. It was never acknowledged, so it is removed; the others are synced.
 * @param refs names of refs that an unsettled push was creating
 * @returns the removed names
 */
export async function repairNewRefs(runner: GitRunner, repository: string, refs: readonly string[]): Promise<string[]> {
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
  if (there.length >= manyNewRefs) await syncNewRefs(runner, repository, there);
  return removed;
}
