import { copyFile, link, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { rows } from '../db/index.ts';
import { syncPath } from '../files/index.ts';
import { conflict, internal } from '../kernel/index.ts';
import { rowOf } from './find-row.ts';
import type { MoveDeps } from './move-to-store.ts';
import { readState } from './ref-rows.ts';
import type { StoredState } from './ref-rows.ts';

const maxTries = 5;

/**
 * Moves a repository from the store to a folder while it is in use: completes, checks and syncs the folder, then
 * removes the rows in one transaction unless they have changed. Its packs leave the store a day later. Throws
 * `repository_busy`, `object_store_unavailable`; then nothing has moved.
 * @param target path of its folder; existing content is obsolete
 * @returns the bytes of its packs
 */
export async function moveToFolder(deps: MoveDeps, id: string, target: string): Promise<number> {
  const { local, folders, journal, logger } = deps;
  await local.storage.remove(target);
  for (let tries = 0; tries < maxTries; tries += 1) {
    const state = await readState(deps.db, id);
    if (state === null) throw conflict('repository_busy', 'The repository is already being moved.');
    await folders.using(await rowOf(deps, id), (cache) => fill(deps, state, cache, target));
    if (tries === 0) await checkFolder(deps, target);
    if (!(await removeRows(deps, state.row))) continue;
    await journal.close(id, state.row.generation + 1);
    await local.caches.leave(target);
    await folders.evict(id, -Infinity);
    logger.info('repository_store.moved', { repository: id, to: 'local', refs: state.refs.length });
    return state.packs.reduce((sum, { packBytes, indexBytes }) => sum + packBytes + indexBytes, 0);
  }
  await local.storage.remove(target);
  throw conflict('repository_busy', 'This repository is changing too quickly. Try again later.');
}

/** Updates the folder to the rows and packs, and syncs it. */
async function fill({ local }: MoveDeps, { row, packs, refs }: StoredState, cache: string, target: string) {
  if (!(await local.storage.exists(target))) await local.storage.create(target, { defaultBranch: row.head });
  const [from, to] = [cache, target].map((folder) => path.join(folder, 'objects', 'pack')) as [string, string];
  const there = new Set(await readdir(to));
  // The index comes last, because it makes the pack readable.
  for (const { name } of packs)
    for (const ending of ['pack', 'idx']) {
      const file = `pack-${name}.${ending}`;
      if (there.has(file)) continue;
      await linkOrCopy(path.join(from, file), path.join(to, file));
      await syncPath(path.join(to, file));
    }
  await syncPath(to);
  await local.caches.changing(target, () => local.caches.writeRefs(target, refs, row.head));
  for (const name of ['packed-refs', 'HEAD', '.']) await syncPath(path.join(target, name));
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw conflict('repository_busy', 'The repository is being packed. Try again.');
    const copy = `${to}.copy`;
    await rm(copy, { force: true });
    await copyFile(from, copy);
    await rename(copy, to);
  });
}

async function checkFolder({ local }: MoveDeps, target: string): Promise<void> {
  const faults = await local.maintenance.check(target);
  if (faults.length === 0) return;
  await local.storage.remove(target);
  throw internal('the folder is not what the store has', { cause: faults });
}

/** Whether the repository is unchanged since it was read. */
async function removeRows({ db }: MoveDeps, { id, generation }: StoredState['row']): Promise<boolean> {
  const removed = await db.write(
    ({ manager }) =>
      rows(manager, 'DELETE FROM stored_repositories WHERE id = ? AND generation = ? RETURNING id', [id, generation]),
    { scope: `repository:${id}` },
  );
  return removed.length === 1;
}
