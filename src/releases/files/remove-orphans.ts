import { inList } from '../../db/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { filePrefix } from './receive-file.ts';

/** Number of objects per query. */
const batch = 200;

/**
 * Scheduled job: removes objects without a row, left by deleted releases and repositories and by uploads that a crash
 * interrupted, once they are older than any upload can take. Rows are deleted earlier, so a backup, which copies files
 * after rows, never misses one. @returns the number of removed objects
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

/** The objects of this module without a row. */
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
