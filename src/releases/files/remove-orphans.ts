import { inList } from '../../db/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { filePrefix } from './receive-file.ts';

/** Objects that one query asks for. */
const batch = 200;

/**
 * For a job: removes objects that no row names, of deleted releases and repositories and of uploads that a crash cut
 * off, once they are older than any upload takes. The rows went earlier, so a backup, whose files are copied after its
 * rows, never misses one. @returns how many
 */
export async function removeOrphans(deps: ReleaseDeps): Promise<number> {
  const before = deps.clock.now() - deps.settings.uploadGraceMs;
  let removed = 0;
  for await (const orphan of orphansIn(deps)) {
    if (orphan.storedAt >= before) continue;
    await deps.objects.remove(orphan.key);
    removed += 1;
  }
  if (removed > 0) deps.logger.info('releases.objects_removed', { objects: removed });
  return removed;
}

/** The objects of this module that no row names. */
export async function* orphansIn({
  db,
  objects,
}: Pick<ReleaseDeps, 'db' | 'objects'>): AsyncGenerator<{ key: string; storedAt: number }> {
  let page: { key: string; id: string; storedAt: number }[] = [];
  const unnamed = async (): Promise<typeof page> => {
    const ids = JSON.stringify(page.map(({ id }) => id));
    const rows: { id: string }[] = await db.read.query(`SELECT f.id FROM release_files f WHERE ${inList('f.id')}`, [
      ids,
    ]);
    const named = new Set(rows.map(({ id }) => id));
    return page.filter(({ id }) => !named.has(id));
  };
  for await (const { key, storedAt } of objects.list(filePrefix)) {
    page.push({ key, id: key.slice(key.lastIndexOf('/') + 1), storedAt });
    if (page.length < batch) continue;
    yield* await unnamed();
    page = [];
  }
  yield* await unnamed();
}
