import { selectRows } from '../../db/index.ts';
import type { PackageDeps } from '../deps.ts';
import { blobKey, blobPrefix, chunkKey, chunkPrefix, readBlobKey } from '../blobs/blob-key.ts';
import type { BlobObject } from '../blobs/blob-key.ts';
import { packageBlobSchema, packageUploadChunkSchema, packageUploadSchema } from '../schema/blob-schema.ts';
import { packageVersionSchema } from '../schema/package-schema.ts';

/** Numbers of removed items. */
interface CollectedPackages {
  uploads: number;
  versions: number;
  packages: number;
  blobs: number;
  bytes: number;
  orphans: number;
}

const atOnce = 500;

/**
 * Removes unreferenced data: abandoned uploads, versions whose trash time is over, packages without versions, blobs
 * that no version and no recent upload references, and objects without a row. Blobs used by an upload, a mount or a
 * check before a push are kept for a day.
 */
export async function collectPackages(
  deps: PackageDeps,
  { shouldContinue = async () => true }: { shouldContinue?: () => Promise<boolean> } = {},
): Promise<CollectedPackages> {
  const removed: CollectedPackages = { uploads: 0, versions: 0, packages: 0, blobs: 0, bytes: 0, orphans: 0 };
  const steps = [removeUploads, purgeTrash, removePackages, removeBlobs, removeOrphans];
  for (const step of steps) if (await shouldContinue()) await step(deps, removed);
  if (Object.values(removed).some((count) => count > 0)) deps.logger.info('packages.collected', { ...removed });
  return removed;
}

type Step = (deps: PackageDeps, removed: CollectedPackages) => Promise<void>;

/** Runs until a batch is not full. */
async function inBatches(step: () => Promise<number>): Promise<void> {
  while ((await step()) === atOnce);
}

const removeUploads: Step = async ({ db, clock, objects, settings }, removed) => {
  const before = clock.now() - settings.uploadGraceMs;
  await inBatches(async () => {
    const { ids, chunks } = await db.write(async ({ manager }) => {
      const stale = await manager
        .createQueryBuilder(packageUploadSchema, 'u')
        .where('u.updated_at < :before', { before })
        .limit(atOnce)
        .getMany();
      const gone = [];
      for (const { id } of stale) {
        gone.push(...(await manager.findBy(packageUploadChunkSchema, { uploadId: id })));
        await manager.delete(packageUploadSchema, { id });
      }
      return { ids: stale, chunks: gone };
    });
    for (const { objectId } of chunks) await objects.remove(chunkKey(objectId));
    removed.uploads += ids.length;
    return ids.length;
  });
};

const purgeTrash: Step = async ({ db, clock, settings }, removed) => {
  const before = clock.now() - settings.trashKeptMs;
  await inBatches(() =>
    db.write(async ({ manager }) => {
      const old = await manager
        .createQueryBuilder(packageVersionSchema, 'v')
        .where('v.deleted_at IS NOT NULL AND v.deleted_at < :before', { before })
        .limit(atOnce)
        .getMany();
      for (const { id } of old) await manager.delete(packageVersionSchema, { id });
      removed.versions += old.length;
      return old.length;
    }),
  );
};

const removePackages: Step = async ({ db, clock, settings }, removed) => {
  const before = clock.now() - settings.uploadGraceMs;
  await inBatches(() =>
    db.write(async ({ manager }) => {
      await manager.query('DELETE FROM package_blob_names WHERE named_at < ?', [before]);
      const empty: { id: string }[] = await manager.query(
        `SELECT p.id FROM packages p WHERE p.versions = 0 AND p.updated_at < ?
          AND NOT EXISTS (SELECT 1 FROM package_versions v WHERE v.package_id = p.id)
          AND NOT EXISTS (SELECT 1 FROM package_uploads u WHERE u.package_id = p.id)
          AND NOT EXISTS (SELECT 1 FROM package_blob_names n WHERE n.package_id = p.id) LIMIT ${atOnce}`,
        [before],
      );
      for (const { id } of empty) await manager.query('DELETE FROM packages WHERE id = ?', [id]);
      removed.packages += empty.length;
      return empty.length;
    }),
  );
};

const removeBlobs: Step = async (deps, removed) => {
  const { db, clock, settings } = deps;
  const before = clock.now() - settings.uploadGraceMs;
  await inBatches(async () => {
    const unneeded = await selectRows(
      db.read,
      packageBlobSchema,
      `SELECT b.* FROM package_blobs b WHERE b.needed_at < :before AND ${isUnnamed} LIMIT ${atOnce}`,
      { before },
    );
    for (const blob of unneeded)
      if (await removeBlob(deps, blob, before)) {
        removed.blobs += 1;
        removed.bytes += blob.bytes;
      }
    return unneeded.length;
  });
};

const isUnnamed = `NOT EXISTS (SELECT 1 FROM package_files f WHERE f.owner_id = b.owner_id AND f.sha256 = b.sha256)
  AND NOT EXISTS (SELECT 1 FROM package_blob_names n JOIN packages p ON p.id = n.package_id
    WHERE n.sha256 = b.sha256 AND p.owner_id = b.owner_id)`;

/**
 * Removes the row first, in one write that checks again whether it is needed, then its object: a publication of the
 * same content finds the row, which it keeps, or none, and stores its own object. An object left by a crash has no row.
 */
async function removeBlob({ db, objects }: PackageDeps, blob: BlobObject, before: number): Promise<boolean> {
  const { ownerId, sha256 } = blob;
  const isRemoved = await db.write(async ({ manager }) => {
    const gone = await manager.query(
      `DELETE FROM package_blobs AS b WHERE b.owner_id = ? AND b.sha256 = ? AND b.needed_at < ? AND ${isUnnamed}
        AND COALESCE(b.object_name, '') = ? RETURNING sha256`,
      [ownerId, sha256, before, blob.objectName ?? ''],
    );
    return gone.length > 0;
  });
  if (isRemoved) await objects.remove(blobKey(blob));
  return isRemoved;
}

/** Objects left by a crash before their row was written or after it was removed. */
const removeOrphans: Step = async (deps, removed) => {
  const { db, clock, objects, settings } = deps;
  const before = clock.now() - settings.uploadGraceMs * 2;
  for await (const { key, storedAt } of objects.list(blobPrefix)) {
    const { ownerId, sha256, objectName, since } = readBlobKey(key);
    // A hard link has the time of its original file.
    if ((since ?? storedAt) >= before) continue;
    if ((await db.read.findOneBy(packageBlobSchema, { ownerId, sha256 }))?.objectName === objectName) continue;
    await objects.remove(key);
    removed.orphans += 1;
  }
  for await (const { key, storedAt } of objects.list(chunkPrefix)) {
    if (storedAt >= before) continue;
    const rows = await db.read.findBy(packageUploadChunkSchema, { objectId: key.slice(chunkPrefix.length) });
    if (rows.length > 0) continue;
    await objects.remove(key);
    removed.orphans += 1;
  }
};
