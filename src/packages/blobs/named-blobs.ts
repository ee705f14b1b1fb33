import type { EntityManager } from 'typeorm';
import { rowBy } from '../../db/index.ts';
import type { RowSource, Tx } from '../../db/index.ts';
import type { PackageDeps } from '../deps.ts';
import { packageBlobNameSchema, packageBlobSchema } from '../schema/blob-schema.ts';
import type { PackageBlobRow } from '../schema/blob-schema.ts';
import type { PackageRow } from '../schema/package-schema.ts';
import type { Digest } from './blob-key.ts';

type Named = Pick<PackageRow, 'id' | 'ownerId'>;

/**
 * A blob by its digest, as visible in one package: because it was uploaded or mounted there, or a version there
 * references it. Content of another package of the same owner is absent.
 * @param rows for the rows that nearly every pull asks for
 */
export async function findNamedBlob(
  manager: EntityManager,
  { id: packageId, ownerId }: Named,
  { algorithm, hex }: Digest,
  rows: RowSource = manager,
): Promise<PackageBlobRow | null> {
  const row = await rowBy(rows, packageBlobSchema, { ownerId, [algorithm]: hex });
  if (row === null) return null;
  const { sha256 } = row;
  if ((await rowBy(rows, packageBlobNameSchema, { packageId, sha256 })) !== null) return row;
  return (await isInVersion(manager, { id: packageId, ownerId }, sha256)) ? row : null;
}

/** Whether a version outside the trash references a blob. */
async function isInVersion(manager: EntityManager, { id, ownerId }: Named, sha256: string): Promise<boolean> {
  const [file] = await manager.query(
    `SELECT 1 FROM package_files f JOIN package_versions v ON v.id = f.version_id
      WHERE f.owner_id = ? AND f.sha256 = ? AND f.package_id = ? AND v.deleted_at IS NULL LIMIT 1`,
    [ownerId, sha256, id],
  );
  return file !== undefined;
}

/**
 * Images of an owner that contain a blob: possible sources of a mount without a source.
 * @returns at most 20
 */
export async function imagesWithBlob(
  { db }: Pick<PackageDeps, 'db'>,
  ownerId: string,
  digest: Digest,
): Promise<string[]> {
  const row = await rowBy(db.read, packageBlobSchema, { ownerId, [digest.algorithm]: digest.hex });
  if (row === null) return [];
  const { sha256 } = row;
  const found: { name: string }[] = await db.read.query(
    `SELECT p.name FROM packages p WHERE p.format = 'oci' AND p.id IN (
      SELECT n.package_id FROM package_blob_names n WHERE n.sha256 = ?
      UNION ALL SELECT f.package_id FROM package_files f JOIN package_versions v ON v.id = f.version_id
        WHERE f.owner_id = ? AND f.sha256 = ? AND v.deleted_at IS NULL)
      AND p.owner_id = ? LIMIT 20`,
    [sha256, ownerId, sha256, ownerId],
  );
  return found.map(({ name }) => name);
}

/** Inside a write: makes a blob visible in a package. */
export async function nameBlob({ manager, now }: Tx, packageId: string, sha256: string): Promise<void> {
  await manager.upsert(packageBlobNameSchema, { packageId, sha256, namedAt: now }, ['packageId', 'sha256']);
}

/** Minimum age in milliseconds of a blob's last use before a check renews it. */
const freshMs = 3_600_000;

/**
 * A client that finds a blob before a push will not send it, so the check keeps it for another day. Null if it is
 * absent.
 */
export async function renewNamedBlob(
  { db, clock }: Pick<PackageDeps, 'db' | 'clock'>,
  named: Named,
  digest: Digest,
): Promise<PackageBlobRow | null> {
  const blob = await findNamedBlob(db.read, named, digest);
  if (blob === null || blob.neededAt > clock.now() - freshMs) return blob;
  return db.write(async (tx) => {
    const again = await findNamedBlob(tx.manager, named, digest);
    if (again === null) return null;
    await tx.manager.update(packageBlobSchema, { ownerId: again.ownerId, sha256: again.sha256 }, { neededAt: tx.now });
    await nameBlob(tx, named.id, again.sha256);
    return again;
  });
}

/**
 * Inside a write: removes a blob from a package. False if a version references it, which keeps it; restoring a version
 * from the trash also restores its blobs.
 */
export async function forgetBlobName(
  { manager }: Tx,
  { id: packageId, ownerId }: Named,
  sha256: string,
): Promise<boolean> {
  if (await isInVersion(manager, { id: packageId, ownerId }, sha256)) return false;
  await manager.delete(packageBlobNameSchema, { packageId, sha256 });
  return true;
}
