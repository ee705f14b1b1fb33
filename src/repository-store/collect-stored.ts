import path from 'node:path';
import { rm } from 'node:fs/promises';
import { rows } from '../db/index.ts';
import type { StoreDeps } from './deps.ts';
import type { CacheFolders } from './follow-folder.ts';
import type { Journal } from './journal.ts';
import { rowOf } from './find-row.ts';
import { installPack, overtaken, replacePacks, sharedKeys } from './replace-packs.ts';
import { readState } from './ref-rows.ts';
import { uploadPack } from './transfer-packs.ts';

type Deps = StoreDeps & { folders: CacheFolders; journal: Journal };

const everyMs = 7 * 24 * 60 * 60_000;
const maxTries = 3;

/**
 * Replaces all packs by one with all reachable objects; unreachable objects leave the store a day later. Takes effect
 * only if no ref has changed since the refs were read; then stores the generation, and a push checked before it is
 * checked again. Packs also used by a fork stay.
 * @returns whether it has replaced them: not if refs changed during each of three attempts
 */
async function collectStored(deps: Deps, id: string): Promise<boolean> {
  for (let tries = 0; tries < maxTries; tries += 1)
    if (await deps.folders.using(await rowOf(deps, id), (folder) => collectOnce(deps, id, folder))) return true;
  return false;
}

async function collectOnce(deps: Deps, id: string, folder: string): Promise<boolean> {
  const { db, local, folders, journal, logger } = deps;
  const state = await readState(db, id);
  // The folder must contain everything reachable from these refs.
  if (state === null || state.row.generation !== (await rowOf(deps, id)).generation) return false;
  const { packs, row } = state;
  if (packs.length === 0 || (await sharedKeys(db, id)).size > 0) {
    await noteCollection(deps, id);
    return true;
  }
  await folders.follow(row);
  const into = path.join(path.dirname(folder), `packs-${deps.random.uuid()}`);
  try {
    const tips = [...new Set(state.refs.map(({ oid }) => oid))];
    const name = tips.length === 0 ? null : await local.caches.pack(folder, { tips, known: [], into });
    const pack = name === null ? null : await uploadPack(deps, id, into, name);
    const keys = packs.map(({ key }) => key);
    const generation = await db
      .write(
        async (tx) => {
          const current = await replacePacks(tx, id, keys, pack);
          const [moved] = await rows<{ refs: number }>(
            tx.manager,
            'SELECT count(*) AS refs FROM git_refs WHERE repository = ? AND generation > ?',
            [id, row.generation],
          );
          // Thrown to roll back everything.
          if (Number(moved!.refs) > 0) throw overtaken;
          await tx.manager.query(
            'UPDATE stored_repositories SET dropped_generation = ?, collected_at = ? WHERE id = ?',
            [current, tx.now, id],
          );
          return current;
        },
        { scope: `repository:${id}` },
      )
      .catch((error: unknown) => {
        if (error === overtaken) return null;
        throw error;
      });
    if (generation === null) return false;
    await journal.write(id, generation);
    if (name !== null) await installPack(deps, id, { folder, from: into, name });
    logger.info('repository_store.collected', {
      repository: id,
      before: packs.reduce((sum, one) => sum + one.packBytes, 0),
      bytes: pack?.packBytes ?? 0,
    });
    return true;
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

const noteCollection = ({ db }: Deps, id: string) =>
  db.write(
    ({ manager, now }) => manager.query('UPDATE stored_repositories SET collected_at = ? WHERE id = ?', [now, id]),
    { durable: 'with-the-next', scope: `repository:${id}` },
  );

/** Repositories that have changed since their last collection, a week ago. */
export async function collectDue(deps: Deps, shouldContinue: () => Promise<boolean>): Promise<number> {
  const due = await rows<{ id: string }>(
    deps.db.read,
    `SELECT id FROM stored_repositories WHERE collected_at < ? AND generation > dropped_generation
      ORDER BY collected_at LIMIT 1000`,
    [deps.clock.now() - everyMs],
  );
  let collected = 0;
  for (const { id } of due) {
    if (!(await shouldContinue())) break;
    const isDone = await collectStored(deps, id).catch((error: unknown) => {
      deps.logger.warn('repository_store.not_packed', { repository: id, error });
      return false;
    });
    if (isDone) collected += 1;
  }
  return collected;
}
