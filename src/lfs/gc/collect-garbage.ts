import { inList } from '../../db/index.ts';
import type { LfsDeps } from '../deps.ts';
import { scanPointers } from '../pointers/scan-pointers.ts';
import type { LfsObjectRow } from '../schema/lfs-schema.ts';
import { readObjectsInBatches, readRepositoriesInBatches } from './read-in-batches.ts';
import { finishRemovals, removeFile } from './remove-files.ts';

/** Result of scanning one repository. */
export interface ScannedRepository {
  repositoryId: string;
  owner: string;
  name: string;
  objects: number;
  /** Objects that no file in any ref names. */
  unreferenced: { objects: number; bytes: number };
  /** Those whose retention time is over, which are removed or due for removal. */
  due: { objects: number; bytes: number };
  /** Why this scan does not count; null for a clean one. */
  problem: string | null;
}

interface GcOptions {
  /** Whether to remove objects that are due; otherwise they are only reported. */
  removes: boolean;
  /** Ids of repositories; all by default. */
  repositoryIds?: readonly string[] | undefined;
  /** Checked before each repository. */
  shouldContinue?: (() => Promise<boolean>) | undefined;
}

/**
 * Scans repositories for objects that no file in any ref names anymore. A scan marks such an object; if a second scan
 * after the retention time agrees, it is moved to the trash for seven days. Both scans count only if git has read the
 * whole repository without an error. An upload that finds its object present clears the mark.
 */
export async function* collectGarbage(
  deps: LfsDeps,
  { removes, repositoryIds, shouldContinue = async () => true }: GcOptions,
): AsyncGenerator<ScannedRepository> {
  if (removes) await finishRemovals(deps);
  const steps = repositoryIds === undefined ? readRepositoriesInBatches(deps) : [repositoryIds];
  for await (const ids of steps) {
    const located = await deps.repositories.locate(ids);
    for (const [repositoryId, { repository, owner, path }] of located) {
      if (!(await shouldContinue())) return;
      const found = { repositoryId, owner: owner.handle, name: repository.name };
      yield { ...found, ...(await scan(deps, repositoryId, path, removes)) };
    }
  }
}

async function scan(
  deps: LfsDeps,
  repositoryId: string,
  path: string,
  removes: boolean,
): Promise<Omit<ScannedRepository, 'repositoryId' | 'owner' | 'name'>> {
  const { clock, settings, logger } = deps;
  const startedAt = clock.now();
  const result = {
    objects: 0,
    unreferenced: { objects: 0, bytes: 0 },
    due: { objects: 0, bytes: 0 },
    problem: null as string | null,
  };
  const referenced = new Set<string>();
  try {
    for await (const { oid } of scanPointers(deps, path, 'all')) referenced.add(oid);
  } catch (error) {
    logger.warn('lfs.scan_failed', { repositoryId, error });
    result.problem = 'git could not read the whole repository';
  }
  for await (const rows of readObjectsInBatches(deps, repositoryId)) {
    result.objects += rows.length;
    if (result.problem !== null) continue;
    const lost = rows.filter(({ oid }) => !referenced.has(oid));
    add(result.unreferenced, lost);
    const before = startedAt - settings.keepUnreferencedMs;
    const due = lost.filter(({ unreferencedSince: since }) => since !== null && since <= before);
    add(result.due, due);
    await mark(deps, repositoryId, startedAt, {
      found: rows.filter(({ oid, unreferencedSince }) => unreferencedSince !== null && referenced.has(oid)),
      lost: lost.filter(({ unreferencedSince }) => unreferencedSince === null),
    });
    if (removes) for (const object of await claim(deps, repositoryId, before, due)) await removeFile(deps, object);
  }
  await deps.db.write(({ manager }) =>
    manager.query('UPDATE lfs_repositories SET scanned_at = ?, scan_error = ? WHERE repository_id = ?', [
      startedAt,
      result.problem,
      repositoryId,
    ]),
  );
  if (removes && result.due.objects > 0) logger.info('lfs.collected', { repositoryId, ...result.due });
  return result;
}

function add(sum: { objects: number; bytes: number }, rows: readonly LfsObjectRow[]): void {
  sum.objects += rows.length;
  for (const { bytes } of rows) sum.bytes += bytes;
}

const oidsOf = (rows: readonly LfsObjectRow[]): string => JSON.stringify(rows.map(({ oid }) => oid));

/** Objects that arrived while git was reading are marked by the next scan. */
async function mark(
  { db }: LfsDeps,
  repositoryId: string,
  scannedAt: number,
  { found, lost }: { found: readonly LfsObjectRow[]; lost: readonly LfsObjectRow[] },
): Promise<void> {
  if (found.length + lost.length === 0) return;
  await db.write(async ({ manager }) => {
    await manager.query(
      `UPDATE lfs_objects SET unreferenced_since = NULL, seen_at = ? WHERE repository_id = ? AND ${inList('oid')}`,
      [scannedAt, repositoryId, oidsOf(found)],
    );
    await manager.query(
      `UPDATE lfs_objects SET unreferenced_since = ?
        WHERE repository_id = ? AND unreferenced_since IS NULL AND seen_at < ? AND ${inList('oid')}`,
      [scannedAt, repositoryId, scannedAt, oidsOf(lost)],
    );
  });
}

/** Claims objects for removal whose mark no upload has cleared meanwhile: from now on they count as absent. */
async function claim(
  { db }: LfsDeps,
  repositoryId: string,
  before: number,
  due: readonly LfsObjectRow[],
): Promise<LfsObjectRow[]> {
  if (due.length === 0) return [];
  const claimed = await db.write(async ({ manager, now }) => {
    await manager.query(
      `UPDATE lfs_objects SET removing_at = ?
        WHERE repository_id = ? AND unreferenced_since <= ? AND removing_at IS NULL AND ${inList('oid')}`,
      [now, repositoryId, before, oidsOf(due)],
    );
    return (await manager.query(
      `SELECT o.oid FROM lfs_objects o WHERE o.repository_id = ? AND o.removing_at = ? AND ${inList('o.oid')}`,
      [repositoryId, now, oidsOf(due)],
    )) as { oid: string }[];
  });
  const ours = new Set(claimed.map(({ oid }) => oid));
  return due.filter(({ oid }) => ours.has(oid));
}
