import { link } from 'node:fs/promises';
import path from 'node:path';
import { In, IsNull } from 'typeorm';
import { rows } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import type { StoreDeps } from './deps.ts';
import type { CacheFolders } from './follow-folder.ts';
import { storedPackSchema } from './schema.ts';
import type { UploadedPack } from './transfer-packs.ts';

/** Thrown inside a transaction if another packing or a push was faster. */
export const overtaken = new Error('another packing was faster');

/**
 * Inside a transaction: replaces exactly these packs by one or none. Throws `overtaken` if one of them was already
 * replaced.
 * @returns the generation
 */
export async function replacePacks(
  { manager, now }: Pick<Tx, 'manager' | 'now'>,
  repository: string,
  keys: readonly string[],
  pack: UploadedPack | null,
): Promise<number> {
  const [row] = await rows<{ generation: number }>(
    manager,
    'UPDATE stored_repositories SET generation = generation + 1 WHERE id = ? RETURNING generation',
    [repository],
  );
  const generation = Number(row?.generation ?? 0);
  const replaced = await manager.update(
    storedPackSchema,
    { repository, key: In(keys), replacedAt: IsNull() },
    { replacedAt: now, replacedGeneration: generation },
  );
  if (row === undefined || replaced.affected !== keys.length) throw overtaken;
  if (pack !== null)
    await manager.insert(storedPackSchema, {
      ...pack,
      repository,
      generation,
      replacedGeneration: null,
      replacedAt: null,
    });
  return generation;
}

/** Packs of a repository that another one also uses. */
export async function sharedKeys(db: StoreDeps['db'], repository: string): Promise<Set<string>> {
  const found = await rows<{ key: string }>(
    db.read,
    `SELECT p.key AS key FROM git_packs p JOIN git_packs o ON o.key = p.key AND o.repository <> p.repository
      WHERE p.repository = ? AND p.replaced_at IS NULL AND o.replaced_at IS NULL`,
    [repository],
  );
  return new Set(found.map(({ key }) => key));
}

/**
 * Adds a just uploaded pack to the folder, so that it need not be fetched. The index comes last, because it makes the
 * pack readable.
 */
export async function installPack(
  { folders }: { folders: CacheFolders },
  id: string,
  { folder, from, name }: { folder: string; from: string; name: string },
): Promise<void> {
  await folders.locked(id, async () => {
    const place = path.join(folder, 'objects', 'pack');
    for (const ending of ['pack', 'idx'])
      await link(path.join(from, `pack-${name}.${ending}`), path.join(place, `pack-${name}.${ending}`)).catch(
        (error: NodeJS.ErrnoException) => {
          // It already exists, or the folder was removed: the pack is fetched again.
          if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error;
        },
      );
  });
}
