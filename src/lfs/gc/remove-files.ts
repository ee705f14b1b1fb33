import { inList } from '../../db/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { LfsDeps } from '../deps.ts';
import { objectKey, objectPrefix } from '../object-key.ts';
import { lfsObjectSchema } from '../schema/lfs-schema.ts';
import type { LfsObjectRow } from '../schema/lfs-schema.ts';

/** Folder of removed objects, by the day of their removal: `lfs-trash/2026-11-23/<repository id>/<sha256>`. */
export const trashPrefix = 'lfs-trash/';
const dayMs = 86_400_000;
const trashKeptMs = 7 * dayMs;
/** Age below which a file without a row may belong to an upload whose row is still to be written. */
const orphanGraceMs = dayMs;
const stepFiles = 200;

const dayOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);
const trashKey = (now: number, repositoryId: string, oid: string): string =>
  `${trashPrefix}${dayOf(now)}/${repositoryId}/${oid}`;

type Named = Pick<LfsObjectRow, 'repositoryId' | 'oid'>;

/** Moves the file of a claimed object to the trash, and then removes its row. */
export async function removeFile(deps: LfsDeps, { repositoryId, oid }: Named): Promise<void> {
  const { objects, clock } = deps;
  const key = objectKey(repositoryId, oid);
  await objects.link(key, trashKey(clock.now(), repositoryId, oid)).catch((error: unknown) => {
    if (!isDomainError(error) || error.reason !== 'object_exists') throw error;
  });
  await removeClaimed(deps, { repositoryId, oid });
}

/** The file first: while the row exists, no upload adopts the file. */
async function removeClaimed({ db, objects }: LfsDeps, { repositoryId, oid }: Named): Promise<void> {
  await objects.remove(objectKey(repositoryId, oid));
  await db.write(({ manager }) =>
    manager
      .createQueryBuilder()
      .delete()
      .from(lfsObjectSchema)
      .where('repository_id = :repositoryId AND oid = :oid AND removing_at IS NOT NULL', { repositoryId, oid })
      .execute(),
  );
}

/** Removes the file of a refused upload, unless another upload's row names it. */
export async function removeWithoutRow(deps: LfsDeps, object: Named & Pick<LfsObjectRow, 'bytes'>): Promise<void> {
  const claim = await claimWithoutRow(deps, object);
  if (claim === 'claimed') await removeClaimed(deps, object);
  else if (claim === 'gone') await deps.objects.remove(objectKey(object.repositoryId, object.oid));
}

/**
 * Finishes removals and uploads that a crash interrupted. Claims each again, so that only one of two processes has it.
 */
export async function finishRemovals(deps: LfsDeps): Promise<number> {
  const rows = await deps.db.read
    .createQueryBuilder(lfsObjectSchema, 'o')
    .where('o.removing_at IS NOT NULL AND o.removing_at < :before', { before: deps.clock.now() - dayMs / 24 })
    .limit(10_000)
    .getMany();
  for (const row of rows) if (await claimAgain(deps, row)) await removeFile(deps, row);
  return rows.length;
}

/** False if another process has claimed it. */
async function claimAgain({ db }: LfsDeps, { repositoryId, oid, removingAt }: LfsObjectRow): Promise<boolean> {
  return db.write(async ({ manager, now }) => {
    const row = await manager.findOneBy(lfsObjectSchema, { repositoryId, oid });
    if (row === null || row.removingAt !== removingAt) return false;
    await manager.update(lfsObjectSchema, { repositoryId, oid }, { removingAt: now });
    return true;
  });
}

/**
 * Removes everything without a row: files of removed repositories, files of uploads that crashed before their row was
 * written, and files that have been in the trash for seven days.
 */
export async function removeOrphans(deps: LfsDeps): Promise<{ objects: number; trashed: number }> {
  const removed = { objects: 0, trashed: 0 };
  let keys: { key: string; bytes: number }[] = [];
  const flush = async (): Promise<void> => {
    for (const orphan of await withoutRow(deps, keys)) if (await removeOrphan(deps, orphan)) removed.objects += 1;
    keys = [];
  };
  const before = deps.clock.now() - orphanGraceMs;
  for await (const { key, bytes, storedAt } of deps.objects.list(objectPrefix)) {
    if (storedAt < before) keys.push({ key, bytes });
    if (keys.length === stepFiles) await flush();
  }
  await flush();
  const oldest = dayOf(deps.clock.now() - trashKeptMs);
  for await (const { key } of deps.objects.list(trashPrefix)) {
    if (key.slice(trashPrefix.length) >= oldest) continue;
    await deps.objects.remove(key);
    removed.trashed += 1;
  }
  if (removed.objects + removed.trashed > 0) deps.logger.info('lfs.files_removed', removed);
  return removed;
}

interface Orphan {
  key: string;
  bytes: number;
  repositoryId: string;
  oid: string;
}

async function withoutRow({ db }: LfsDeps, keys: readonly { key: string; bytes: number }[]): Promise<Orphan[]> {
  const files = keys.map(({ key, bytes }) => {
    const [, repositoryId = '', oid = ''] = key.split('/');
    return { key, bytes, repositoryId, oid };
  });
  const known = new Set<string>();
  for (const id of new Set(files.map(({ repositoryId }) => repositoryId))) {
    const oids = files.filter(({ repositoryId }) => repositoryId === id).map(({ oid }) => oid);
    const rows: { oid: string }[] = await db.read.query(
      `SELECT o.oid FROM lfs_objects o WHERE o.repository_id = ? AND ${inList('o.oid')}`,
      [id, JSON.stringify(oids)],
    );
    for (const { oid } of rows) known.add(objectKey(id, oid));
  }
  return files.filter(({ key }) => !known.has(key));
}

async function removeOrphan(deps: LfsDeps, orphan: Orphan): Promise<boolean> {
  const claim = await claimWithoutRow(deps, orphan);
  if (claim === 'claimed') await removeFile(deps, orphan);
  else if (claim === 'gone') await deps.objects.remove(orphan.key);
  return claim !== 'unfinished';
}

/**
 * A file of an existing repository is claimed by a row first, so that no upload adopts it meanwhile. A fork in progress
 * has files before it has rows.
 */
function claimWithoutRow(
  { db }: LfsDeps,
  { bytes, repositoryId, oid }: Named & Pick<LfsObjectRow, 'bytes'>,
): Promise<'unfinished' | 'gone' | 'claimed'> {
  return db.write(async ({ manager, now }) => {
    const row = { repositoryId, oid, bytes, shared: true, uploaderId: null, arrivedAt: now, seenAt: now };
    const [fork] = await manager.query('SELECT 1 AS found FROM unfinished_forks f WHERE f.repository_id = ?', [
      repositoryId,
    ]);
    if (fork !== undefined) return 'unfinished';
    const [repository] = await manager.query('SELECT 1 AS found FROM repositories r WHERE r.id = ?', [repositoryId]);
    if (repository === undefined) return 'gone';
    if ((await manager.findOneBy(lfsObjectSchema, { repositoryId, oid })) !== null) return 'unfinished';
    await manager.insert(lfsObjectSchema, { ...row, unreferencedSince: null, removingAt: now });
    return 'claimed';
  });
}
