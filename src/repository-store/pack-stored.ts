import { rm } from 'node:fs/promises';
import path from 'node:path';
import { IsNull } from 'typeorm';
import { rows } from '../db/index.ts';
import { removeUnnamedKeys } from './create-stored.ts';
import type { StoreDeps } from './deps.ts';
import type { CacheFolders } from './follow-folder.ts';
import type { Journal } from './journal.ts';
import { rowOf } from './find-row.ts';
import { installPack, overtaken, replacePacks, sharedKeys } from './replace-packs.ts';
import { storedPackSchema } from './schema.ts';
import type { StoredPack } from './schema.ts';
import { uploadPack } from './transfer-packs.ts';

type Deps = StoreDeps & { folders: CacheFolders; journal: Journal };

/** git opens every pack at every start: with 200 packs a push takes twice as long. */
const manyPacks = 30;
const tooManyPacks = 4 * manyPacks;
/** For restores of older database copies. */
const replacedForMs = 24 * 60 * 60_000;
const purgedAtOnce = 200;

/**
 * Replaces a repository's current packs by one; packs added in the meantime stay. Drops no object, so a concurrent push
 * needs no check. Keeps packs also used by a fork until they are many, because replacing them would store their objects
 * twice.
 * @returns whether it has replaced them: not if another packing was faster
 */
export async function packStored(deps: Deps, id: string): Promise<boolean> {
  const { db, folders } = deps;
  const row = await rowOf(deps, id);
  const all = await db.read.findBy(storedPackSchema, { repository: id, replacedAt: IsNull() });
  const shared = all.length < tooManyPacks ? await sharedKeys(db, id) : new Set<string>();
  const old = all.filter(({ key }) => !shared.has(key));
  if (old.length < 2) return true;
  return folders.using(row, (folder) => joinPacks(deps, id, folder, old));
}

async function joinPacks(deps: Deps, id: string, folder: string, old: readonly StoredPack[]): Promise<boolean> {
  const { db, local, folders, journal } = deps;
  const into = path.join(path.dirname(folder), `packs-${deps.random.uuid()}`);
  try {
    const name = await local.caches.joinPacks(folder, [...new Set(old.map((pack) => pack.name))], into);
    const pack = await uploadPack(deps, id, into, name);
    const keys = old.map(({ key }) => key);
    const generation = await db
      .write((tx) => replacePacks(tx, id, keys, pack), { scope: `repository:${id}` })
      .catch((error: unknown) => {
        if (error === overtaken) return null;
        throw error;
      });
    if (generation === null) return false;
    await journal.write(id, generation);
    await installPack(deps, id, { folder, from: into, name });
    await folders.follow(await rowOf(deps, id));
    deps.logger.info('repository_store.packed', { repository: id, packs: old.length, bytes: pack.packBytes });
    return true;
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

/** Repacks repositories with many packs, and removes packs replaced a day ago. Returns how many were repacked. */
export async function packStoredRepositories(
  deps: Deps,
  shouldContinue: () => Promise<boolean> = async () => true,
): Promise<number> {
  const { db, clock, logger } = deps;
  const due = await rows<{ repository: string }>(
    db.read,
    `SELECT repository FROM git_packs WHERE replaced_at IS NULL GROUP BY repository HAVING count(*) >= ${manyPacks}`,
  );
  let packed = 0;
  for (const { repository } of due) {
    if (!(await shouldContinue())) return packed;
    const isPacked = await packStored(deps, repository).catch((error: unknown) => {
      logger.warn('repository_store.not_packed', { repository, error });
      return false;
    });
    if (isPacked) packed += 1;
  }
  const old = await rows<{ repository: string; key: string }>(
    db.read,
    `SELECT repository, key FROM git_packs WHERE replaced_at > 0 AND replaced_at < ?
      ORDER BY replaced_at LIMIT ${purgedAtOnce}`,
    [clock.now() - replacedForMs],
  );
  for (const { repository, key } of old) {
    await db.write(({ manager }) => manager.delete(storedPackSchema, { repository, key }), {
      durable: 'with-the-next',
    });
    await removeUnnamedKeys(deps, [key]);
  }
  return packed;
}
